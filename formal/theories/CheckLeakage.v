(** * Certificates of leakage, proved, where nature picks nothing (docs/certificates/leakage.md) *)

From Coq Require Import ZArith QArith List Bool FMapPositive Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Delta Ratios Steps Leakage Measures LeakageGraph Tables CheckChain Check CheckDelta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** Of what it is. *)
Inductive worlds :=
| Pair (s t : positive)
| Secrets (prior : list (positive * Q)) (normed : bool)  (* bayes, or min-entropy *)
| Gains (prior : list (positive * Q)) (guesses : list (list (positive * Q))).  (* g: by guess and secret what is gained *)

Definition guess_row (prior gain : list (positive * Q)) : list (positive * Q) :=
  let gained := build gain in map (fun e => (fst e, Qred (snd e * find_or 0%Q gained (fst e)))) prior.

Record leak_claim := {
  lc_about : worlds;
  lc_nodes : list (positive * positive);  (* by first label the node *)
  lc_lower : from_below;
  lc_upper : option Q
}.

Record leak_certificate := {
  lx_model : model;
  lx_quantity : quantity;
  lx_width : nat;
  lx_ratios : list (positive * positive * Q);
  lx_nodes : list (positive * leak_node);
  lx_claims : list leak_claim
}.

Section Worlds.
Variable known_state : positive -> bool.
Variable width : nat.

Definition is_distribution (prior : list (positive * Q)) : bool :=
  forallb (fun e => known_state (fst e) && Qleb 0 (snd e)) prior && Qeqb (total prior) 1.

Definition check_worlds (k : quantity) (a : worlds) : bool :=
  match a, k with
  | Pair s t, _ => known_state s && known_state t
  | Secrets prior _, Guess => is_distribution prior && Nat.eqb (S width) (length prior)
  | Gains prior guesses, Guess => is_distribution prior && Nat.eqb (S width) (length guesses)
  | _, _ => false
  end.

End Worlds.

Definition first_of (a : worlds) : list (positive * Q) :=
  match a with
  | Pair _ _ => []
  | Secrets (e :: _) _ => [e]
  | Secrets [] _ => []
  | Gains prior (g :: _) => guess_row prior g
  | Gains _ [] => []
  end.
Definition others_of (a : worlds) : rows_of :=
  match a with
  | Pair s t => [[(s, 1%Q); (t, (- (1))%Q)]]
  | Secrets (_ :: l) _ => map (fun e => [e]) l
  | Secrets [] _ => []
  | Gains prior (_ :: l) => map (guess_row prior) l
  | Gains _ [] => []
  end.

Definition differences (a : worlds) : rows_of := map (fun r => r ++ scale (- (1)) (first_of a)) (others_of a).
Definition pair_rows (a : worlds) : rows_of := match a with Pair s t => [[(s, 1%Q)]; [(t, 1%Q)]] | _ => [] end.

(** The rows that it starts from, and what becomes of their value in the answer. *)
Definition starting (k : quantity) (a : worlds) : rows_of := match k with Guess => differences a | _ => pair_rows a end.
Definition offset (k : quantity) (a : worlds) : Q := match k with Guess => total (first_of a) | _ => 0%Q end.
Definition multiple (k : quantity) (a : worlds) : Q :=
  match k, a with Guess, Secrets prior true => (/ bestQ (map snd prior))%Q | Hellinger, _ => 2%Q | _, _ => 1%Q end.
Definition added (k : quantity) : Q := match k with Chi2 => (- (1))%Q | Hellinger => 2%Q | _ => 0%Q end.
Definition in_answer (k : quantity) (a : worlds) (x : Q) : Q := (multiple k a * (offset k a + x) + added k)%Q.

Definition positive_part (r : list (positive * Q)) : list (positive * Q) := map (fun e => (fst e, if Qle_bool 0 (snd e) then snd e else 0%Q)) r.

(** More than which nothing leaks: the sum of what is positive. *)
Definition most (a : worlds) : Q := total (flat_map positive_part (first_of a :: others_of a)).

Definition above_all (k : quantity) (a : worlds) (u : Q) : bool :=
  match k, a with
  | Guess, Pair _ _ | Guess, Secrets _ false => Qleb 1 u && Qleb (most a) u
  | Hellinger, _ => Qleb 2 u
  | _, _ => false
  end.

Section Certificate.
Variable g : guesses.

Definition check_leak_claim (C : chain) (known_state : positive -> bool) (k : quantity) (width : nat) (nodes : table leak_node) (c : leak_claim) : bool :=
  let K := computed_of g k in
  let a := lc_about c in
  let D := starting k a in
  check_worlds known_state width k a && Qltb 0 (multiple k a) &&
  match all_below (map (below C K width nodes D (lc_nodes c)) (labels_in C D)), lc_lower c with
  | Infinite, _ => true
  | Finite x, Finite l => Qleb l (in_answer k a x)
  | Finite _, Infinite => false
  end &&
  match lc_upper c with
  | None => true
  | Some u =>
      above_all k a u ||
      let es := map (edge_to C K width nodes D) (lc_nodes c) in
      check_split C K width nodes D (lc_nodes c) es &&
      match weighed snd (node_upper nodes) es with Some y => Qleb (in_answer k a y) u | None => false end
  end.

Definition check_leakage (x : leak_certificate) : bool :=
  let C := chain_of (lx_model x) in
  check_chain (lx_model x) C &&
  let known := knows C in
  let R := find2 (build2 (lx_ratios x)) in
  forallb (check_ratio C known R) (lx_ratios x) &&
  let nodes := build (lx_nodes x) in
  forallb (check_leak_node C known R (computed_of g (lx_quantity x)) (lx_width x) nodes) (lx_nodes x) &&
  forallb (check_leak_claim C known (lx_quantity x) (lx_width x) nodes) (lx_claims x).
End Certificate.

(** ** What a claim says *)
Section Meaning.
Variable F : OrderedField.
Local Open Scope field_scope.
Variable C : chain.

(** The sum over all words of n labels of what the best guess gains: guesses have a weight for every state. *)
Definition guessed (first : list (positive * Q)) (others : rows_of) (n : nat) : F :=
  sum (map (fun w => let at_word r := eval r (fun s => pr C n s (is_word w)) in
                     fold_right (@larger F) (at_word first) (map at_word others)) (words C n)).

(** The sum over all words of n labels of the function of their probabilities. *)
Definition leaked (mu : measure F) (M : rows_of) (n : nat) : option F :=
  esum (map (fun w => phi mu (masses M (fun s => pr C n s (is_word w)))) (words C n)).

Definition whole (k : quantity) (t : tools F k) (a : worlds) (n : nat) : option F :=
  match k with Guess => Some (guessed (first_of a) (others_of a) n) | _ => leaked (measure_of t) (pair_rows a) n end.

Definition answer (k : quantity) (t : tools F k) (a : worlds) (n : nat) : option F :=
  plus (times (ofQ (multiple k a)) (whole t a n)) (Some (ofQ (added k))).

End Meaning.

(** What the first n labels leak is at most [upper] for every n, and comes close to [lower], whatever the roots and logarithms of a field are. *)
Definition leak_claim_holds (C : chain) (k : quantity) (c : leak_claim) : Prop :=
  forall (F : OrderedField) (t : tools F k),
    (forall u, lc_upper c = Some u -> forall n, leq (answer C t (lc_about c) (S n)) (Some (ofQ u))) /\
    reaches (lc_lower c) (fun n => answer C t (lc_about c) (S n)).

(** ** From claims to rows *)
Section Claims.
Variable F : OrderedField.
Add Field F_field' : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable known_state : positive -> bool.
Hypothesis known_ok : forall s, known_state s = true -> In s (states C).
Let L := all_labels C.

Lemma larger_shift (a : F) l : fold_right (@larger F) a l = a + best (map (fun x => x - a) l).
Proof. induction l as [| x l IH]; simpl; [ring |]. rewrite IH. unfold larger.
  destruct (le_dec x (a + best (map (fun x => x - a) l))) as [A | A]; destruct (le_dec (x - a) (best (map (fun x => x - a) l))) as [B | B]; try ring.
  - exfalso; apply B. apply le_by with (a + best (map (fun x => x - a) l) - x); [ring | now apply sub_ge0].
  - exfalso; apply A. apply le_by with (best (map (fun x => x - a) l) - (x - a)); [ring | now apply sub_ge0]. Qed.

Lemma eval_word r l w : inside C r -> eval r (fun s => pr C (S (length w)) s (is_word (l :: w))) = eval (of_label C l r) (after F C w) :> F.
Proof. intro H. rewrite eval_of_label. apply eval_ext. intros s q I. apply (pr_word F C_ok); [reflexivity | now apply (H s q)]. Qed.

Lemma guessed_split a n : inside C (first_of a) -> known C (others_of a) ->
  Some (guessed F C (first_of a) (others_of a) (S n))
  = plus (Some (ofQ (total (first_of a)))) (esum (map (fun l => value C (best_measure F) n (map (of_label C l) (differences a))) L)).
Proof.
  intros K1 K2. unfold value. cbn [phi best_measure].
  rewrite (esum_ext (g := fun l => Some (sum (map (fun w => best (masses (map (of_label C l) (differences a)) (after F C w))) (words C n))))) by (intros; apply esum_some).
  rewrite esum_some. unfold plus. f_equal. unfold guessed. cbn [words]. rewrite sum_flat. rewrite <- (sums_to_total F C_ok n K1).
  transitivity (sum (map (fun l => sum (map (fun w => eval (of_label C l (first_of a)) (after F C w)) (words C n))
    + sum (map (fun w => best (masses (map (of_label C l) (differences a)) (after F C w))) (words C n))) L)).
  - apply sum_ext. intros l _. rewrite map_map. rewrite <- sum_add. apply sum_ext. intros w I.
    apply words_length in I. subst n. cbv zeta. rewrite larger_shift, (eval_word l w K1). f_equal.
    unfold masses, differences. f_equal. rewrite !map_map. apply map_ext_in. intros r Ir.
    rewrite (eval_word l w (K2 r Ir)), !eval_of_label, eval_app, eval_scale, ofQ_opp, ofQ_1. ring.
  - rewrite sum_add. f_equal. rewrite sum_swap. apply sum_ext. intros w _.
    rewrite (sum_ext (g := fun l => eval (first_of a) (fun t => if Pos.eqb (label C t) l then after F C w t else 0))) by (intros; apply eval_of_label).
    rewrite sum_eval. apply eval_ext. intros s q I. destruct (label_once (K1 s q I)). now apply sum_once.
Qed.

Lemma leaked_split (mu : measure F) M n : known C M ->
  leaked C mu M (S n) = esum (map (fun l => value C mu n (map (of_label C l) M)) L).
Proof.
  intro Kn. unfold leaked, value. cbn [words]. rewrite esum_flat. apply esum_ext. intros l _. rewrite map_map. apply esum_ext. intros w I.
  apply words_length in I. subst n. f_equal. unfold masses. rewrite map_map. apply map_ext_in. intros r Ir. apply eval_word. now apply Kn.
Qed.

Lemma differences_known a : inside C (first_of a) -> known C (others_of a) -> known C (differences a).
Proof. intros K1 K2 r I. apply in_map_iff in I; destruct I as (r' & <- & I). intros s q Is. apply in_app_iff in Is; destruct Is as [Is | Is].
  - now apply (K2 r' I s q).
  - apply in_map_iff in Is; destruct Is as ([t p] & E & Is). injection E as <- _. now apply (K1 t p). Qed.

Lemma distribution_known prior : is_distribution known_state prior = true -> inside C prior.
Proof. unfold is_distribution. rewrite andb_true_iff, forallb_forall. intros [H _] s q I. specialize (H _ I).
  rewrite andb_true_iff in H. now apply known_ok. Qed.

Lemma worlds_known width k a : check_worlds known_state width k a = true -> inside C (first_of a) /\ known C (others_of a).
Proof.
  destruct a as [s t | prior normed | prior guesses]; simpl.
  - rewrite andb_true_iff. intros [Hs Ht]. split; [easy |]. intros r [<- | []] i q [E | [E | []]]; injection E as <- _; now apply known_ok.
  - destruct k; try easy. rewrite andb_true_iff. intros [D _]. apply distribution_known in D. destruct prior as [| e l]; simpl; [split; easy |]. split.
    + intros s q [E | []]. subst e. apply (D s q). now left.
    + intros r I. apply in_map_iff in I; destruct I as (e' & <- & I). intros s q [E | []]. subst e'. apply (D s q). now right.
  - destruct k; try easy. rewrite andb_true_iff. intros [D _]. apply distribution_known in D.
    assert (K : forall g, inside C (guess_row prior g)).
    { intros g s q Is. unfold guess_row in Is. apply in_map_iff in Is; destruct Is as ([t p] & E & Is). injection E as <- _. now apply (D t p). }
    destruct guesses as [| g l]; simpl; [split; easy |]. split; [apply K |].
    intros r I. apply in_map_iff in I; destruct I as (g' & <- & _). apply K.
Qed.

Lemma positive_part_bounds r (g : positive -> F) : (forall s q, In (s, q) r -> 0 <= g s) ->
  eval r g <= eval (positive_part r) g /\ 0 <= eval (positive_part r) g.
Proof.
  induction r as [| [s q] r IH]; simpl; intro H; [split; apply le_refl |]. destruct IH as [I1 I2]; [intros; apply (H s0 q0); now right |].
  pose proof (H s q (or_introl eq_refl)) as G. destruct (Qle_bool 0 q) eqn:E.
  - apply Qle_bool_iff in E. split; [apply le_add2; [apply le_refl | assumption] | apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | assumption] | assumption]].
  - assert (N : (q <= 0)%Q) by (apply Qlt_le_weak, Qnot_le_lt; intro K; apply Qle_bool_iff in K; congruence).
    apply (@ofQ_le F) in N. rewrite ofQ_0 in *. split.
    + apply le_add2; [| assumption]. apply le_by with ((0 - ofQ q) * g s); [ring | apply le_mul; [now apply sub_ge0 | assumption]].
    + apply add_ge0; [| assumption]. apply le_by with (0 : F); [ring | apply le_refl].
Qed.

Lemma positive_parts (M : rows_of) (g : positive -> F) : (forall r s q, In r M -> In (s, q) r -> 0 <= g s) ->
  0 <= eval (flat_map positive_part M) g /\ forall r, In r M -> eval r g <= eval (flat_map positive_part M) g.
Proof.
  induction M as [| r M IH]; simpl; intro H; [split; [apply le_refl | easy] |].
  destruct IH as [I1 I2]; [intros r' s q I; apply (H r' s q); now right |].
  destruct (@positive_part_bounds r g) as [B1 B2]; [intros s q; apply (H r s q); now left |]. rewrite eval_app. split; [now apply add_ge0 |].
  intros r' [<- | I].
  - apply le_trans with (1 := B1). apply le_by with (eval (flat_map positive_part M) g); [ring | assumption].
  - apply le_trans with (1 := I2 r' I). apply le_by with (eval (positive_part r) g); [ring | assumption].
Qed.

Lemma word_sum n s : In s (states C) -> sum (map (fun w => pr C (S n) s (is_word w)) (words C (S n))) = (1 : F).
Proof.
  intro Hs. cbn [words]. rewrite sum_flat. destruct (label_once Hs) as [N I].
  rewrite (sum_ext (g := fun l => if Pos.eqb (label C s) l then 1 else 0)); [now apply sum_once |].
  intros l _. rewrite map_map.
  rewrite (sum_ext (g := fun w => if Pos.eqb (label C s) l then after F C w s else 0)).
  - destruct (Pos.eqb (label C s) l); [now apply (after_sum F C_ok) |].
    now apply sum_zero.
  - intros w Iw. apply words_length in Iw. now apply (pr_word F C_ok).
Qed.

Lemma larger_all (a z : F) l : a <= z -> (forall x, In x l -> x <= z) -> fold_right (@larger F) a l <= z.
Proof. induction l as [| x l IH]; simpl; intros H K; [assumption |]. apply larger_lub; auto. Qed.

Lemma most_leaked a n : inside C (first_of a) -> known C (others_of a) -> guessed F C (first_of a) (others_of a) (S n) <= ofQ (most a).
Proof.
  intros K1 K2. set (P := flat_map positive_part (first_of a :: others_of a)).
  assert (K : forall r s q, In r (first_of a :: others_of a) -> In (s, q) r -> In s (states C)).
  { intros r s q [<- | I] Is; [now apply (K1 s q) | now apply (K2 r I s q)]. }
  assert (KP : inside C P).
  { intros s q I. apply in_flat_map in I; destruct I as (r & Ir & I). apply in_map_iff in I; destruct I as ([t p] & E & I).
    injection E as <- _. now apply (K r t p). }
  apply le_trans with (sum (map (fun w => eval P (fun s => pr C (S n) s (is_word w))) (words C (S n)))).
  - apply sum_le. intros w _. cbv zeta.
    destruct (@positive_parts (first_of a :: others_of a) (fun s => pr C (S n) s (is_word w))) as [_ B].
    { intros r s q Ir Is. apply (pr_bounds F C_ok). now apply (K r s q). }
    apply larger_all; [apply B; now left |]. intros x I. apply in_map_iff in I; destruct I as (r & <- & I). apply B; now right.
  - rewrite sum_eval. rewrite (eval_ext (g := fun _ => 1)); [rewrite eval_const; unfold most; fold P; apply le_by with (0 : F); [ring | apply le_refl] |].
    intros s q I. apply word_sum. now apply (KP s q).
Qed.


(** What the first n labels leak, by first labels. *)
Lemma whole_split k (t : tools F k) width a n : check_worlds known_state width k a = true ->
  fine C (measure_of t) (starting k a) /\
  whole C t a (S n) = plus (Some (ofQ (offset k a))) (esum (map (fun l => value C (measure_of t) n (map (of_label C l) (starting k a))) L)).
Proof.
  intro H. destruct (worlds_known H) as [K1 K2].
  assert (Pairs : k <> Guess -> fine C (measure_of t) (pair_rows a)).
  { intro N. destruct a as [s u | |]; [| destruct k; easy | destruct k; easy]. simpl in H. rewrite andb_true_iff in H. destruct H as [Hs Hu]. split.
    - intros r [<- | [<- | []]] i q [E | []]; injection E as <- _; now apply known_ok.
    - right. intros r i q [<- | [<- | []]] [E | []]; injection E as _ <-; discriminate. }
  destruct k; cbn [starting offset whole].
  - split; [| now apply guessed_split]. split; [now apply differences_known | now left].
  - split; [now apply Pairs |]. rewrite ofQ_0, plus_0l. apply leaked_split. now apply Pairs.
  - split; [now apply Pairs |]. rewrite ofQ_0, plus_0l. apply leaked_split. now apply Pairs.
  - split; [now apply Pairs |]. rewrite ofQ_0, plus_0l. apply leaked_split. now apply Pairs.
  - split; [now apply Pairs |]. rewrite ofQ_0, plus_0l. apply leaked_split. now apply Pairs.
Qed.

Lemma answer_above k (t : tools F k) a n S x : whole C t a n = plus (Some (ofQ (offset k a))) S -> (0 < multiple k a)%Q -> leq S (Some (ofQ x)) ->
  leq (answer C t a n) (Some (ofQ (in_answer k a x))).
Proof.
  intros E M H. unfold answer, in_answer. rewrite E. destruct S as [s |]; [| easy]. simpl in *. rewrite ofQ_add, ofQ_mul, ofQ_add.
  apply le_add2; [| apply le_refl]. apply le_scale; [now apply ofQ_ge0, Qlt_le_weak |]. now apply le_add2; [apply le_refl |].
Qed.

Lemma answer_below k (t : tools F k) a n S x : whole C t a n = plus (Some (ofQ (offset k a))) S -> (0 < multiple k a)%Q -> leq (Some (ofQ x)) S ->
  leq (Some (ofQ (in_answer k a x))) (answer C t a n).
Proof.
  intros E M H. unfold answer, in_answer. rewrite E. destruct S as [s |]; [| exact I]. simpl in *. rewrite ofQ_add, ofQ_mul, ofQ_add.
  apply le_add2; [| apply le_refl]. apply le_scale; [now apply ofQ_ge0, Qlt_le_weak |]. now apply le_add2; [apply le_refl |].
Qed.

Lemma answer_most k (t : tools F k) width a n u : check_worlds known_state width k a = true -> above_all k a u = true -> leq (answer C t a (S n)) (Some (ofQ u)).
Proof.
  intros H A. destruct (worlds_known H) as [K1 K2].
  assert (Gu : k = Guess -> forall u, multiple k a = 1%Q -> (most a <= u)%Q -> leq (answer C t a (S n)) (Some (ofQ u))).
  { intros -> v M Mo. unfold answer, whole. rewrite M. simpl. rewrite ofQ_1, ofQ_0. apply le_trans with (ofQ (most a)); [| now apply ofQ_le].
    apply le_by with (ofQ (most a) - guessed F C (first_of a) (others_of a) (S n)); [ring | apply sub_ge0; now apply most_leaked]. }
  destruct k; try easy.
  - destruct a as [s w | prior [|] | prior guesses]; try easy; simpl in A; rewrite andb_true_iff in A; destruct A as [_ A]; apply Qle_bool_iff in A; now apply Gu.
  - apply Qle_bool_iff in A. destruct (whole_split t n H) as [Fi W]. cbn [offset] in W. rewrite ofQ_0, plus_0l in W.
    eapply leq_trans; [eapply (@answer_above Hellinger t a (S n)); [cbn [offset]; rewrite ofQ_0, plus_0l; exact W | reflexivity |] |].
    + rewrite ofQ_0. apply leq_trans with (esum (map (fun _ : positive => Some (0 : F)) L)); [| rewrite esum_zero by easy; apply leq_refl].
      apply esum_le. intros l _. unfold value. apply leq_trans with (esum (map (fun _ : list positive => Some (0 : F)) (words C n))); [| rewrite esum_zero by easy; apply leq_refl].
      apply esum_le. intros w _. apply root_below_0. apply (in_domain_of (C := C)); [now apply of_label_fine | intros; now apply (after_ge0 F C_ok)].
    + apply ofQ_le. unfold in_answer. simpl. lra.
Qed.
End Claims.

Theorem check_leakage_sound g x : check_leakage g x = true ->
  chain_ok (chain_of (lx_model x)) /\ forall c, In c (lx_claims x) -> leak_claim_holds (chain_of (lx_model x)) (lx_quantity x) c.
Proof.
  unfold check_leakage. set (C := chain_of (lx_model x)). set (k := lx_quantity x). cbv zeta. rewrite !andb_true_iff. intros [Ok [Ra [No Cl]]].
  apply check_chain_ok in Ok. fold C in Ok. split; [assumption |].
  intros c Ic F t. rewrite forallb_forall in Cl. specialize (Cl c Ic). apply (check_ratios_ok (knows_ok (C := C))) in Ra.
  pose proof (measure_lawful t) as Law. pose proof (measure_encloses t g) as Enc.
  assert (Best : is_signed (computed_of g k) = true -> measure_of t = best_measure F) by (destruct k; simpl; easy).
  unfold check_leak_claim in Cl. set (a := lc_about c) in *. set (D := starting k a) in *. cbv zeta in Cl. rewrite !andb_true_iff in Cl.
  destruct Cl as [[[W M] Lo] Up]. apply Qltb_lt in M.
  assert (Wh : forall n, fine C (measure_of t) D /\ whole C t a (S n) = plus (Some (ofQ (offset k a)))
    (esum (map (fun l => value C (measure_of t) n (map (of_label C l) D)) (all_labels C)))) by (intro n; exact (whole_split Ok (knows_ok (C := C)) t n W)).
  destruct (Wh O) as [Fi _]. split.
  - intros u U n. rewrite U in Up. apply orb_true_iff in Up. destruct Up as [Up | Up]; [exact (answer_most Ok (knows_ok (C := C)) t n W Up) |].
    rewrite andb_true_iff in Up. destruct Up as [Sp Up]. destruct (weighed snd _ _) as [y |] eqn:Wy; [| easy]. apply Qle_bool_iff in Up.
    apply leq_trans with (Some (ofQ (in_answer k a y))); [| exact (ofQ_le F Up)]. apply (answer_above (proj2 (Wh n)) M).
    exact (start_above Ok (knows_ok (C := C)) Ra Law Enc Best No n Fi Sp Wy).
  - pose proof (all_below_ok Ok (knows_ok (C := C)) Law Enc No (lc_nodes c) (labels_in C D) Fi) as B.
    assert (Back : forall b, (in_answer k a ((b - added k) / multiple k a - offset k a) == b)%Q).
    { intro b. unfold in_answer. field. intro N. rewrite N in M. now apply Qlt_irrefl in M. }
    assert (All : unbounded (fun n => esum (map (fun l => value C (measure_of t) n (map (of_label C l) D)) (labels_in C D))) ->
      unbounded (fun n => answer C t a (S n))).
    { intros H b. destruct (H ((b - added k) / multiple k a - offset k a)%Q) as [n G]. exists n. rewrite <- (all_labels_of Law n (proj1 Fi)) in G.
      eapply leq_trans; [| apply (answer_below (proj2 (Wh n)) M G)]. apply ofQ_le. rewrite Back. apply Qle_refl. }
    destruct (all_below _) as [z |]; [destruct (lc_lower c) as [l |]; [| easy] | apply All in B; destruct (lc_lower c) as [l |]; [| exact B]].
    + intros r Hr. apply Qle_bool_iff in Lo. destruct (B (r / multiple k a)%Q) as [n H]; [apply Qlt_shift_div_l; [assumption |]; now rewrite Qmult_0_l |].
      exists n. rewrite <- (all_labels_of Law n (proj1 Fi)) in H. eapply leq_trans; [| apply (answer_below (proj2 (Wh n)) M H)].
      apply ofQ_le. unfold in_answer in *. assert (E : (multiple k a * (r / multiple k a) == r)%Q) by (field; intro N; rewrite N in M; now apply Qlt_irrefl in M). lra.
    + intros r _. apply B.
Qed.

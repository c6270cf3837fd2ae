(** * The checkers of kinds hmm-all-lengths and hmm-no-budget: sequences of every length *)

From Coq Require Import ZArith QArith List Bool FMapPositive Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Tables Hmm HmmPump CheckHmm CheckHmmCoupling.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** ** Cones (rules I1 to I4) *)
Definition function := positive -> Q.
Definition combination := list (nat * Q).  (* of generators, by place *)

Record cone := {
  c_known : list positive;  (* the states that the pair can reach *)
  c_generators : list vector;
  c_starts : list (positive * combination);
  c_steps : list (list (positive * combination))
}.

Definition said (A : Type) (y : positive) (l : list (positive * list A)) : list A :=
  match find (fun e => Pos.eqb (fst e) y) l with Some e => snd e | None => [] end.

Fixpoint taken (gens : list function) (l : combination) : option (list (Q * function)) :=
  match l with
  | [] => Some []
  | (n, q) :: l' =>
      match nth_error gens n, taken gens l' with
      | Some g, Some m => if Qle_bool 0 q then Some ((q, g) :: m) else None
      | _, _ => None
      end
  end.

Definition combined (m : list (Q * function)) (s : positive) : Q := fold_right (fun e x => Qred (fst e * snd e s + x)) 0%Q m.

Definition is_combination (gens : list function) (known : list positive) (l : combination) (wanted : function) : bool :=
  match taken gens l with Some m => forallb (fun s => Qeq_bool (wanted s) (combined m s)) known | None => false end.

Definition functions (l : list vector) : list function := map (fun v => find_or 0%Q (build v)) l.

Definition check_cone (k : markov) (P : prepared) (pi tau : vector) (c : Q) (x : cone) : bool :=
  let H := hidden P in
  let gens := functions (c_generators x) in
  is_closed P (c_known x) (pi ++ tau) &&
  Nat.eqb (length gens) (length (c_steps x)) &&
  forallb (fun y => is_combination gens (c_known x) (said y (c_starts x)) (fun s => observes H s y) &&
    forallb (fun e => is_combination gens (c_known x) (said y (snd e)) (step_back H y (fst e))) (combine gens (c_steps x)))
    (made P (everything k)) &&
  forallb (fun g => Qle_bool (evalQ (pi ++ scale (- c) tau) g) 0 && Qle_bool (evalQ (tau ++ scale (- c) pi) g) 0) gens.

(** ** Factors (rules F1 to F5) *)
Definition transfers := list (positive * positive * Q).
Definition couplings := list (positive * transfers).  (* by observation *)

Record factor_table := {
  f_table : list (positive * positive * (Q * couplings));
  f_forward : couplings;
  f_backward : couplings
}.

Definition factor_of (x : factor_table) : positive -> positive -> option Q :=
  let found := build2 (map (fun e : positive * positive * (Q * couplings) => (fst e, fst (snd e))) (f_table x)) in find2 found.

Definition is_carried (R : positive -> positive -> option Q) (l : transfers) (A B : vector) (t : Q) : bool :=
  forallb (fun e : positive * positive * Q => Qle_bool 0 (snd e) && match factor_at R (fst (fst e)) (snd (fst e)) with Some _ => true | None => false end) l &&
  all_ge0 (map (fun e : positive * positive * Q => (fst (fst e), snd e)) l ++ scale (- (1)) A) &&
  all_ge0 (scale t B ++ map (fun e : positive * positive * Q => (snd (fst e),
     match factor_at R (fst (fst e)) (snd (fst e)) with Some r => Qred (- (r * snd e)) | None => 0 end)%Q) l).

Definition check_factors (P : prepared) (pi tau : vector) (c : Q) (x : factor_table) : bool :=
  let H := hidden P in
  let R := factor_of x in
  forallb (fun e : positive * positive * (Q * couplings) => let (i, j) := fst e in Qle_bool 1 (fst (snd e)) &&
    forallb (fun y => is_carried R (said y (snd (snd e))) (seen_after H i y) (seen_after H j y) (fst (snd e)))
      (made P (steps_from H i ++ steps_from H j))) (f_table x) &&
  forallb (fun y => is_carried R (said y (f_forward x)) (observed H pi y) (observed H tau y) c &&
                    is_carried R (said y (f_backward x)) (observed H tau y) (observed H pi y) c) (made P (pi ++ tau)).

(** ** Pumps (rules U1 to U7) *)
Record pump := {
  u_first : positive;
  u_prefix : list positive;
  u_cycle : list positive;
  u_suffix : list positive;
  u_fast : Q;
  u_slow : Q;
  u_below : vector;
  u_above : vector;
  u_counting : list positive
}.

(** States that do not exist count: nothing leads to them. *)
Definition is_counting (P : prepared) (l : list positive) : positive -> bool :=
  let listed := build (map (fun s => (s, tt)) l) in
  fun s => match PositiveMap.find s listed with Some _ => true | None => negb (is_state P s) end.

Definition check_pump (k : markov) (P : prepared) (pi tau : vector) (u : pump) : bool :=
  let H := hidden P in
  let counting := is_counting P (u_counting u) in
  let count := counted counting in
  let above := count (u_above u) in
  Qle_bool 0 (u_slow u) && negb (Qle_bool (u_fast u) (u_slow u)) &&
  all_ge0 (advanced H (observed H pi (u_first u)) (u_prefix u) ++ scale (- (1)) (u_below u)) &&
  all_ge0 (advanced H (u_below u) (u_cycle u) ++ scale (- u_fast u) (u_below u)) &&
  positive_q (total (advanced H (u_below u) (u_suffix u))) &&
  all_ge0 (count (u_above u ++ scale (- (1)) (advanced H (observed H tau (u_first u)) (u_prefix u)))) &&
  all_ge0 (count (scale (u_slow u) above ++ scale (- (1)) (advanced H above (u_cycle u)))) &&
  forallb (fun e : positive * vector => let s := fst e in counting s ||
    (forallb (fun t : positive * Q => negb (counting (fst t))) (advanced H [(s, 1%Q)] (u_cycle u)) &&
     Qeq_bool (total (advanced H [(s, 1%Q)] (u_suffix u))) 0)) (k_emissions k).

Definition check_impossible (P : prepared) (pi tau : vector) (w : list positive) : bool :=
  match w with [] => false | _ => Qeq_bool (forward P tau w) 0 && positive_q (forward P pi w) end.

(** ** Claims *)
Inductive invariant := Cone (x : cone) | Factors (x : factor_table) | Coupled (x : coupling).
Inductive refutation := Pump (u : pump) | Impossible (w : list positive).

Record all_lengths := { l_markov : markov; l_from : positive; l_to : positive; l_ratio : Q; l_invariant : invariant }.
Record no_budget := { z_markov : markov; z_from : positive; z_to : positive; z_refutation : refutation }.

(** A check of the two distributions that a claim names. *)
Definition of_pair (k : markov) (s t : positive) (check : prepared -> vector -> vector -> bool) : bool :=
  let P := prepare k in
  check_markov k P && match distribution k s, distribution k t with Some pi, Some tau => check P pi tau | _, _ => false end.

Lemma of_pair_ok k s t check : of_pair k s t check = true -> check_markov k (prepare k) = true /\
  exists pi tau, distribution k s = Some pi /\ distribution k t = Some tau /\ check (prepare k) pi tau = true.
Proof. unfold of_pair. cbv zeta. rewrite andb_true_iff. intros [K C]. split; [assumption |].
  destruct (distribution k s) as [pi |], (distribution k t) as [tau |]; try easy. now exists pi, tau. Qed.

Definition check_all_lengths (x : all_lengths) : bool :=
  of_pair (l_markov x) (l_from x) (l_to x) (fun P pi tau => match l_invariant x with
    | Cone c => check_cone (l_markov x) P pi tau (l_ratio x) c
    | Factors f => check_factors P pi tau (l_ratio x) f
    | Coupled g => check_coupling (l_markov x) P pi tau (l_ratio x) g
    end).

Definition check_no_budget (x : no_budget) : bool :=
  of_pair (z_markov x) (z_from x) (z_to x) (fun P pi tau => match z_refutation x with
    | Pump u => check_pump (z_markov x) P pi tau u
    | Impossible w => check_impossible P pi tau w
    end).

Section Meaning.
Variable F : OrderedField.

Definition all_lengths_true (x : all_lengths) : Prop :=
  exists pi tau, distribution (l_markov x) (l_from x) = Some pi /\ distribution (l_markov x) (l_to x) = Some tau /\
  is_budget F (hidden (prepare (l_markov x))) of_any_length (l_ratio x) pi tau.

Definition no_budget_true (x : no_budget) : Prop :=
  exists pi tau, distribution (z_markov x) (z_from x) = Some pi /\ distribution (z_markov x) (z_to x) = Some tau /\
  forall c, ~ is_budget F (hidden (prepare (z_markov x))) of_any_length c pi tau.
End Meaning.

(** ** The checkers are right *)
Section Sound.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable k : markov.
Let P := prepare k.
Let H := hidden P.
Hypothesis ok : check_markov k P = true.

(** *** Cones *)
Lemma combined_ok m s : (combined m s == conical m s)%Q.
Proof. induction m as [| e m IH]; simpl; [reflexivity |]. now rewrite Qred_correct, IH. Qed.

Lemma taken_in gens l m : taken gens l = Some m -> in_cone gens m.
Proof.
  revert m; induction l as [| [n q] l IH]; simpl; intros m E.
  - injection E as <-. intros q g [].
  - destruct (nth_error gens n) as [g |] eqn:N; [| easy]. destruct (taken gens l) as [m' |]; [| easy].
    destruct (Qle_bool 0 q) eqn:Q0; [| easy]. injection E as <-. intros q' g' [Eq | I].
    + injection Eq as <- <-. split; [now apply Qle_bool_iff | now apply nth_error_In in N].
    + now apply (IH m' eq_refl).
Qed.

Lemma is_combination_ok gens known l wanted : is_combination gens known l wanted = true ->
  exists m, in_cone gens m /\ forall s, In s known -> (wanted s == conical m s)%Q.
Proof.
  unfold is_combination. destruct (taken gens l) as [m |] eqn:E; [| easy]. intro C. exists m. split; [now apply taken_in with l |].
  intros s I. rewrite forallb_forall in C. apply C in I. rewrite <- combined_ok. now apply Qeq_bool_iff.
Qed.

Lemma in_both (A B : Type) (l : list A) (m : list B) a : length l = length m -> In a l -> exists b, In (a, b) (combine l m).
Proof. revert m; induction l as [| x l IH]; intros [| b m]; simpl; try easy. intros Len [-> | I]; [exists b; now left |].
  destruct (IH m) as [b' J]; auto. exists b'; now right. Qed.

Lemma cone_sound pi tau c x : check_cone k P pi tau c x = true -> is_budget F H of_any_length c pi tau.
Proof.
  unfold check_cone. cbv zeta. fold H. rewrite !andb_true_iff, !forallb_forall. intros [[[Closed Len] Comb] Gen]. apply Nat.eqb_eq in Len.
  apply is_closed_ok in Closed. destruct Closed as [Next Start].
  set (gens := functions (c_generators x)) in *.
  assert (Ok : forall seen, cone_ok H seen (fun s => In s (c_known x)) gens).
  { intro seen. split.
    - intros y _. destruct (in_dec Pos.eq_dec y (made P (everything k))) as [I | N].
      + apply Comb in I. rewrite andb_true_iff in I. destruct I as [I _]. now apply is_combination_ok in I.
      + exists []. split; [intros q g [] |]. intros s _. change (observes H s y == 0)%Q. rewrite (unmade_anywhere s N : observes H s y = 0%Q). reflexivity.
    - intros y g _ Ig. destruct (in_dec Pos.eq_dec y (made P (everything k))) as [I | N].
      + apply Comb in I. rewrite andb_true_iff, forallb_forall in I. destruct I as [_ I].
        destruct (in_both Len Ig) as [st J]. apply I in J. now apply is_combination_ok in J.
      + exists []. split; [intros q g' [] |]. intros s _. unfold step_back. rewrite (unmade_anywhere s N : observes H s y = 0%Q). simpl. ring. }
  assert (Inside : forall v, (forall e, In e v -> In e (pi ++ tau)) -> forall s q, In (s, q) v -> In s (c_known x)).
  { intros v Sub s q I. apply (Start (s, q)). now apply Sub. }
  split; intros w Nw; apply (@cone_proves_budget F H w (fun s => In s (c_known x)) Next gens); auto;
    try (intros g Ig; apply Gen in Ig; rewrite andb_true_iff, !Qle_bool_iff in Ig; apply Ig);
    apply Inside; intros e I; apply in_or_app; auto.
Qed.

(** *** Factors *)
Lemma is_carried_ok R l A B t : is_carried R l A B t = true -> carries R l A B t.
Proof.
  unfold is_carried. rewrite !andb_true_iff, forallb_forall. intros [[Each Left] Right]. split; [| split; assumption].
  intros i j a I. apply Each in I. rewrite andb_true_iff in I. destruct I as [A0 Fi]. split; [now apply Qle_bool_iff |].
  simpl in Fi. destruct (factor_at R i j) as [r |]; [now exists r | easy].
Qed.

Lemma nothing_carried R A B t : (forall e, In e A -> (snd e == 0)%Q) -> (forall e, In e B -> (snd e == 0)%Q) -> carries R [] A B t.
Proof.
  intros Za Zb. split; [intros i j a [] |]. split; apply all_ge0_of; intros e I; simpl in I; rewrite ?app_nil_r in I;
    apply in_map_iff in I; destruct I as (d & <- & I); cbn [snd]; rewrite Qred_correct.
  - rewrite (Za d I). apply Qle_refl.
  - rewrite (Zb d I). setoid_replace (t * 0)%Q with 0%Q by ring. apply Qle_refl.
Qed.

Lemma unmade_after s y v : (forall e, In e (steps_from H s) -> In e v) -> ~ In y (made P v) -> forall e, In e (seen_after H s y) -> (snd e == 0)%Q.
Proof.
  intros Sub N e I. unfold seen_after, stepped in I. cbn [flat_map] in I. rewrite app_nil_r in I. apply in_map_iff in I. destruct I as (t & <- & I).
  cbn [fst snd]. rewrite Qred_correct. pose proof (@unmade k v y N t (Sub t I)) as Z. fold P H in Z. rewrite Z. ring.
Qed.

Lemma unmade_side y u v : (forall e, In e u -> In e v) -> ~ In y (made P v) -> forall e, In e (observed H u y) -> (snd e == 0)%Q.
Proof.
  intros Sub N e I. apply in_map_iff in I. destruct I as (d & <- & I). cbn [fst snd]. rewrite Qred_correct.
  pose proof (@unmade k v y N d (Sub d I)) as Z. fold P H in Z. rewrite Z. ring.
Qed.

Lemma factors_sound pi tau c x : check_factors P pi tau c x = true -> is_budget F H of_any_length c pi tau.
Proof.
  unfold check_factors. cbv zeta. fold H. rewrite andb_true_iff, !forallb_forall. intros [Tab Ways].
  assert (Ok : forall seen, factors_ok H seen (factor_of x)).
  { intros seen i j r E. unfold factor_of in E. apply build2_found, in_map_iff in E. destruct E as ([[i' j'] [r' moves]] & Eq & I).
    simpl in Eq. injection Eq as -> -> ->. apply Tab in I. simpl in I. rewrite andb_true_iff, forallb_forall in I. destruct I as [R1 I].
    split; [now apply Qle_bool_iff |]. intros y _.
    destruct (in_dec Pos.eq_dec y (made P (steps_from H i ++ steps_from H j))) as [J | N].
    - apply I, is_carried_ok in J. now exists (said y moves).
    - exists []. apply nothing_carried; eapply unmade_after; try exact N; intros e J; apply in_or_app; auto. }
  assert (Sides : forall y, (exists l, carries (factor_of x) l (observed H pi y) (observed H tau y) c) /\
    (exists l, carries (factor_of x) l (observed H tau y) (observed H pi y) c)).
  { intro y. destruct (in_dec Pos.eq_dec y (made P (pi ++ tau))) as [J | N].
    - apply Ways in J. rewrite andb_true_iff in J. destruct J as [J1 J2]. apply is_carried_ok in J1; apply is_carried_ok in J2.
      split; [now exists (said y (f_forward x)) | now exists (said y (f_backward x))].
    - split; exists []; apply nothing_carried; eapply unmade_side; try exact N; intros e J; apply in_or_app; auto. }
  split; intros w Nw; apply (@factors_prove_budget F H (H_is_hmm ok) w (factor_of x)); auto; intros y _; apply Sides.
Qed.

(** *** Pumps *)
Lemma side_ge0 name v : distribution k name = Some v -> forall s q, In (s, q) v -> (0 <= q)%Q.
Proof. intros D s q I. apply Qlt_le_weak. apply (distribution_gt0 ok D I). Qed.

Lemma pump_sound pi tau u : (forall s q, In (s, q) tau -> (0 <= q)%Q) -> check_pump k P pi tau u = true ->
  forall c, exists w, of_any_length w /\ ofQ c * probability_of F H tau w < probability_of F H pi w.
Proof.
  intros T0 C c. unfold check_pump in C. cbv zeta in C. fold H in C. rewrite !andb_true_iff, forallb_forall in C.
  destruct C as [[[[[[[S0 Sf] Ax] Gx] Px] By] Gy] Off]. apply Qle_bool_iff in S0. rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff in Sf.
  set (counting := is_counting P (u_counting u)) in *.
  assert (Ok : pump_ok H pi tau (u_first u) (u_prefix u) (u_cycle u) (u_suffix u) (u_fast u) (u_slow u) (u_below u) (u_above u) counting).
  { split; [assumption |]. split; [now apply Qnot_le_lt |]. split; [assumption |]. split; [assumption |].
    split; [now apply positive_q_lt |]. split; [assumption |]. split; [assumption |]. intros s Cs.
    assert (K : In s (map fst (k_emissions k))).
    { unfold counting, is_counting in Cs. destruct (PositiveMap.find s (build _)); [easy |]. rewrite negb_false_iff in Cs.
      unfold is_state in Cs. destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:Fd; [| easy]. apply build_found, in_map_iff in Fd.
      destruct Fd as (e & Eq & I). injection Eq as <- _. now apply in_map. }
    apply in_map_iff in K. destruct K as (e & <- & I). apply Off in I. rewrite Cs in I. simpl in I. rewrite andb_true_iff, forallb_forall in I.
    destruct I as [Cy Su]. split; [| now apply Qeq_bool_iff]. intros t q J Ct. apply Cy in J. simpl in J. now rewrite Ct in J. }
  destruct (pump_refutes_every_budget F (H_is_hmm ok) T0 Ok c) as [n N]. cbv zeta in N. eexists; split; [| exact N]. easy.
Qed.

Lemma impossible_sound pi tau w : check_impossible P pi tau w = true ->
  forall c, exists w, of_any_length w /\ ofQ c * probability_of F H tau w < probability_of F H pi w.
Proof.
  intros C c. exists w. destruct w as [| y w]; [easy |]. split; [easy |]. unfold check_impossible in C. rewrite andb_true_iff in C.
  destruct C as [Z Pr]. apply Qeq_bool_iff in Z. apply positive_q_lt in Pr.
  assert (Nw : y :: w <> []) by easy. unfold H, P. rewrite <- !(forward_ok F k _ Nw). fold P. rewrite (ofQ_eq F Z), ofQ_0.
  apply lt_by with (ofQ (forward P pi (y :: w)) : F); [ring | now apply ofQ_gt0].
Qed.
End Sound.

Theorem check_all_lengths_sound (F : OrderedField) x : check_all_lengths x = true -> all_lengths_true F x.
Proof.
  intro H. apply of_pair_ok in H. destruct H as (K & pi & tau & Dp & Dt & C).
  exists pi, tau. split; [assumption | split; [assumption |]]. destruct (l_invariant x).
  - exact (cone_sound F C).
  - exact (factors_sound F K C).
  - exact (coupling_sound F K (side_ge0 K Dp) (side_ge0 K Dt) C).
Qed.

Theorem check_no_budget_sound (F : OrderedField) x : check_no_budget x = true -> no_budget_true F x.
Proof.
  intro H. apply of_pair_ok in H. destruct H as (K & pi & tau & Dp & Dt & C).
  exists pi, tau. split; [assumption | split; [assumption |]]. intros c [Le _].
  assert (Ex : exists w, of_any_length w /\ ~ le (probability_of F (hidden (prepare (z_markov x))) pi w)
    (mul (ofQ c) (probability_of F (hidden (prepare (z_markov x))) tau w))).
  { destruct (z_refutation x).
    - exact (pump_sound F K (side_ge0 K Dt) C c).
    - exact (impossible_sound F C c). }
  destruct Ex as (w & Nw & N). apply N. now apply Le.
Qed.

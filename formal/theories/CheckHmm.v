(** * The checker of kind hmm-budget: budgets of hidden Markov models at a length, or up to it *)

From Coq Require Import ZArith QArith List Bool FMapPositive Permutation Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Tables Hmm HmmPump.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition vector := list (positive * Q).

(** ** The model *)
Record markov := {
  k_emissions : list (positive * vector);
  k_rows : list (positive * vector);  (* none for a state that ends the sequence *)
  k_distributions : list (positive * vector)
}.

(** By state what it observes, as a list and as a table; and where its steps lead. *)
Record prepared := { r_seen : table (vector * table Q); r_rows : table vector }.

Definition prepare (k : markov) : prepared :=
  {| r_seen := build (map (fun e => (fst e, (snd e, build (snd e)))) (k_emissions k)); r_rows := build (k_rows k) |}.

Definition hidden (P : prepared) : hmm := {|
  steps_from := find_or [] (r_rows P);
  observes := fun s x => match PositiveMap.find s (r_seen P) with Some r => find_or 0%Q (snd r) x | None => 0%Q end
|}.

(** Rule H2: entries are positive, and sum to one. *)
Definition positive_q (q : Q) := negb (Qle_bool q 0).
Definition is_distribution (v : vector) := forallb (fun e : positive * Q => positive_q (snd e)) v && Qeq_bool (total v) 1.
Definition is_state (P : prepared) (s : positive) := match PositiveMap.find s (r_seen P) with Some _ => true | None => false end.

Definition check_markov (k : markov) (P : prepared) : bool :=
  forallb (fun e : positive * vector => is_distribution (snd e)) (k_emissions k) &&
  forallb (fun e : positive * vector => is_distribution (snd e) && forallb (fun t : positive * Q => is_state P (fst t)) (snd e))
    (k_rows k ++ k_distributions k).

Definition distribution (k : markov) (name : positive) : option vector :=
  match find (fun e : positive * vector => Pos.eqb (fst e) name) (k_distributions k) with Some e => Some (snd e) | None => None end.

(** ** States that are live: those from which so many more steps can be made; None stands for all *)
Definition alive := option (table bool).
Definition is_alive (a : alive) (s : positive) : bool := match a with None => true | Some m => find_or false m s end.
Definition earlier (P : prepared) (a : alive) : alive :=
  Some (PositiveMap.map (fun row => existsb (fun e : positive * Q => is_alive a (fst e)) row) (r_rows P)).

(** ** Layers *)
Definition covers := list (positive * (nat * Q)).
Definition layer := list (vector * covers).

Record layer_proof := { p_from : positive; p_to : positive; p_ratio : Q; p_start : Q; p_layers : list layer }.

(** The observations that some state of a vector makes. *)
Definition made (P : prepared) (v : vector) : list positive :=
  let row s := match PositiveMap.find s (r_seen P) with Some r => fst r | None => [] end in
  map fst (PositiveMap.elements (build (map (fun o : positive * Q => (fst o, tt)) (flat_map (fun e : positive * Q => row (fst e)) v)))).

(** Every state, once. *)
Definition everything (k : markov) : vector := map (fun e => (fst e, 1%Q)) (k_emissions k).

(** Whether some states hold those of two distributions, and what follows them. *)
Definition is_known (known : list positive) : positive -> bool :=
  let listed := build (map (fun s => (s, tt)) known) in
  fun s => match PositiveMap.find s listed with Some _ => true | None => false end.

Definition is_closed (P : prepared) (known : list positive) (v : vector) : bool :=
  let inside := is_known known in
  forallb (fun s => forallb (fun t : positive * Q => inside (fst t)) (steps_from (hidden P) s)) known &&
  forallb (fun e : positive * Q => inside (fst e)) v.

Definition below_on (a : alive) (v : vector) (lambda : Q) (v' : vector) : bool :=
  all_ge0 (filter (fun e : positive * Q => is_alive a (fst e)) (excess v lambda v')).

Definition is_covered (a : alive) (vectors : list vector) (m : vector) (c : option (positive * (nat * Q))) : bool :=
  match c with
  | None => below_on a m 0 []
  | Some (_, (k, lambda)) =>
      match nth_error vectors k with Some v' => Qle_bool 0 lambda && below_on a m lambda v' | None => false end
  end.

Definition follows (P : prepared) (a : alive) (vectors : list vector) (e : vector * covers) : bool :=
  forallb (fun x => is_covered a vectors (moved (hidden P) (observed (hidden P) (fst e) x)) (find (fun c => Pos.eqb (fst c) x) (snd e)))
    (made P (fst e)).

Definition may_end (P : prepared) (e : vector * covers) : bool :=
  forallb (fun x => Qle_bool (total (observed (hidden P) (fst e) x)) 0) (made P (fst e)).

(** The states that are live at the first of some layers, if all of them are right. *)
Fixpoint check_layers (P : prepared) (up_to : bool) (first : layer) (next : list layer) : option alive :=
  match next with
  | [] => if forallb (may_end P) first then Some None else None
  | second :: next' =>
      match check_layers P up_to second next' with
      | None => None
      | Some a =>
          if forallb (follows P a (map fst second)) first && (if up_to then forallb (may_end P) first else true)
          then Some (if up_to then None else earlier P a)
          else None
      end
  end.

Definition check_proof (k : markov) (P : prepared) (n : nat) (up_to : bool) (p : layer_proof) : bool :=
  match distribution k (p_from p), distribution k (p_to p), p_layers p with
  | Some pi, Some tau, ((v, _) :: _) as first :: next =>
      Nat.eqb (S (length next)) n && Qle_bool 0 (p_ratio p) && Qle_bool 0 (p_start p) &&
      match check_layers P up_to first next with
      | Some a => below_on a (pi ++ scale (- p_ratio p) tau) (p_start p) v && existsb (fun e : positive * Q => is_alive a (fst e)) (pi ++ tau)
      | None => false
      end
  | _, _, _ => false
  end.

(** ** Words: the forward algorithm *)
Definition forward (P : prepared) (v : vector) (w : list positive) : Q :=
  match w with [] => 0%Q | x :: w' => total (advanced (hidden P) (norm (observed (hidden P) v x)) w') end.

(** ** Claims *)
Record budget_claim := {
  b_from : positive;
  b_to : positive;
  b_ratio : option Q;  (* None is infinity *)
  b_holds : bool;
  b_word : option (list positive * (Q * Q))
}.

Record budget_certificate := {
  x_markov : markov;
  x_length : nat;
  x_up_to : bool;
  x_proofs : list layer_proof;
  x_budgets : list budget_claim
}.

Definition is_counted (n : nat) (up_to : bool) (w : list positive) : bool :=
  match w with [] => false | _ => if up_to then Nat.leb (length w) n else Nat.eqb (length w) n end.

Definition check_word (k : markov) (P : prepared) (n : nat) (up_to : bool) (c : budget_claim) : bool :=
  match b_word c with
  | None => true
  | Some (w, (a, b)) =>
      match distribution k (b_from c), distribution k (b_to c) with
      | Some pi, Some tau =>
          let low := if Qle_bool a b then a else b in
          let high := if Qle_bool a b then b else a in
          is_counted n up_to w && Qeq_bool (forward P pi w) a && Qeq_bool (forward P tau w) b &&
          match b_holds c, b_ratio c with
          | true, Some r => Qeq_bool high (r * low) && positive_q high
          | true, None => Qeq_bool low 0 && positive_q high
          | false, Some r => negb (Qle_bool high (r * low))
          | false, None => false
          end
      | _, _ => false
      end
  end.

Definition is_proved (proofs : list layer_proof) (source target : positive) (r : Q) : bool :=
  existsb (fun p => Pos.eqb (p_from p) source && Pos.eqb (p_to p) target && Qle_bool (p_ratio p) r) proofs.

Definition check_budget (k : markov) (P : prepared) (n : nat) (up_to : bool) (proofs : list layer_proof) (c : budget_claim) : bool :=
  check_word k P n up_to c &&
  match b_holds c, b_ratio c, b_word c with
  | true, Some r, _ => is_proved proofs (b_from c) (b_to c) r && is_proved proofs (b_to c) (b_from c) r
  | _, _, Some _ => true
  | _, _, None => false
  end.

Definition check_budgets (x : budget_certificate) : bool :=
  let k := x_markov x in
  let P := prepare k in
  check_markov k P && forallb (check_proof k P (x_length x) (x_up_to x)) (x_proofs x) &&
  forallb (check_budget k P (x_length x) (x_up_to x) (x_proofs x)) (x_budgets x).

(** ** What is claimed *)
Section Meaning.
Variable F : OrderedField.
Local Open Scope field_scope.

Definition counts (n : nat) (up_to : bool) (w : list positive) : Prop :=
  w <> [] /\ if up_to then (length w <= n)%nat else length w = n.

Definition of_any_length (w : list positive) : Prop := w <> [].

(** No sequence that counts is more than c times as probable from the one as from the other. *)
Definition bounded_by (H : hmm) (counting : list positive -> Prop) (c : Q) (pi tau : vector) : Prop :=
  forall w, counting w -> probability_of F H pi w <= ofQ c * probability_of F H tau w.

Definition is_budget (H : hmm) (counting : list positive -> Prop) (c : Q) (pi tau : vector) : Prop :=
  bounded_by H counting c pi tau /\ bounded_by H counting c tau pi.

Definition possible (H : hmm) (counting : list positive -> Prop) (pi tau : vector) : Prop :=
  exists w, counting w /\ (0 < probability_of F H pi w \/ 0 < probability_of F H tau w).

Definition budget_true (x : budget_certificate) (c : budget_claim) : Prop :=
  let H := hidden (prepare (x_markov x)) in
  let counting := counts (x_length x) (x_up_to x) in
  exists pi tau, distribution (x_markov x) (b_from c) = Some pi /\ distribution (x_markov x) (b_to c) = Some tau /\
  match b_word c with
  | Some (w, (a, b)) => counting w /\ probability_of F H pi w = ofQ a /\ probability_of F H tau w = ofQ b
  | None => True
  end /\
  match b_holds c, b_ratio c with
  | true, Some r =>
      is_budget H counting r pi tau /\ possible H counting pi tau /\
      (b_word c <> None -> forall r', is_budget H counting r' pi tau -> (r <= r')%Q)
  | true, None => forall r, ~ is_budget H counting r pi tau
  | false, Some r => ~ is_budget H counting r pi tau
  | false, None => False
  end.
End Meaning.

(** ** Lists of combinations *)
Lemma positive_q_lt q : positive_q q = true -> (0 < q)%Q.
Proof. unfold positive_q; rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff; apply Qnot_le_lt. Qed.

Lemma merge_from_ge0 (l : vector) : forall s q, (0 <= q)%Q -> (forall e, In e l -> (0 <= snd e)%Q) ->
  forall e, In e (merge_from Pos.eqb s q l) -> (0 <= snd e)%Q.
Proof.
  induction l as [| [t p] l IH]; simpl; intros s q Hq Hl e I.
  - destruct I as [<- | []]; assumption.
  - assert (Hp : (0 <= p)%Q) by (apply (Hl (t, p)); now left). destruct (Pos.eqb s t).
    + apply (IH s (Qred (q + p))); auto. rewrite Qred_correct. lra.
    + destruct I as [<- | I]; [assumption |]. apply (IH t p); auto.
Qed.

Lemma all_ge0_of (l : vector) : (forall e, In e l -> (0 <= snd e)%Q) -> all_ge0 l = true.
Proof.
  intro Hl. unfold all_ge0. apply forallb_forall. intros e I. apply Qle_bool_iff.
  unfold norm, nonzero in I. apply filter_In in I; destruct I as [I _].
  assert (Hs : forall e, In e (SortByState.sort l) -> (0 <= snd e)%Q).
  { intros d J. apply Hl. apply (Permutation_in (l := SortByState.sort l)); [| assumption].
    apply Permutation_sym, SortByState.Permuted_sort. }
  destruct (SortByState.sort l) as [| [s q] m]; [easy |]. simpl in I.
  apply (@merge_from_ge0 m s q); [apply (Hs (s, q)); now left | intros d J; apply Hs; now right | assumption].
Qed.

Lemma total_zero (l : vector) : (forall e, In e l -> (snd e == 0)%Q) -> (total l == 0)%Q.
Proof. induction l as [| e l IH]; simpl; intro Z; [reflexivity |]. rewrite Qred_correct, (Z e (or_introl eq_refl)), IH by auto. reflexivity. Qed.

Lemma filter_all (A : Type) (l : list A) : filter (fun _ => true) l = l.
Proof. induction l as [| a l IH]; simpl; congruence. Qed.

Lemma total_some (l : vector) : (total l == 1)%Q -> exists e, In e l.
Proof. destruct l as [| e l]; simpl; intro T; [discriminate T | exists e; now left]. Qed.

Lemma earlier_is P a s : is_alive (earlier P a) s =
  match PositiveMap.find s (r_rows P) with Some row => existsb (fun e : positive * Q => is_alive a (fst e)) row | None => false end.
Proof. unfold earlier. set (f := fun row : vector => existsb (fun e : positive * Q => is_alive a (fst e)) row). change (find_or false (PositiveMap.map f (r_rows P)) s = match PositiveMap.find s (r_rows P) with Some row => f row | None => false end).
  unfold find_or, PositiveMap.map. rewrite PositiveMap.gmapi. now destruct (PositiveMap.find s (r_rows P)). Qed.

(** ** The checker is right *)
Section Sound.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

Lemma ofQ_le_back p q : ofQ p <= (ofQ q : F) -> (p <= q)%Q.
Proof. intro L. destruct (Qlt_le_dec q p) as [S | S]; [| assumption]. apply (ofQ_lt (F := F)) in S. contradiction. Qed.

Lemma eval_gt0 (l : vector) (f : positive -> F) s q : (forall e, In e l -> (0 < snd e)%Q) -> (forall t, 0 <= f t) ->
  In (s, q) l -> 0 < f s -> 0 < eval l f.
Proof.
  intros P Pf I Fs. induction l as [| [t p] l IH]; simpl; [easy |].
  assert (Tail : 0 <= eval l f) by (apply eval_ge0; [intros u r J; apply Qlt_le_weak; apply (P (u, r)); now right | auto]).
  assert (Pp : (0 < p)%Q) by (apply (P (t, p)); now left).
  destruct I as [E | I].
  - injection E as -> ->. apply add_gt0; [| assumption]. apply mul_gt0; [now apply ofQ_gt0 | assumption].
  - apply lt_by with (eval l f + ofQ p * f t); [ring |]. apply add_gt0; [apply IH; auto; intros e J; apply P; now right |].
    apply le_mul; [now apply ofQ_ge0, Qlt_le_weak | apply Pf].
Qed.

Variable k : markov.
Let P := prepare k.
Let H := hidden P.
Hypothesis ok : check_markov k P = true.

Lemma steps_is s : steps_from H s = match PositiveMap.find s (r_rows P) with Some v => v | None => [] end.
Proof. reflexivity. Qed.

Lemma observes_is s y : observes H s y =
  match PositiveMap.find s (r_seen P) with Some r => match PositiveMap.find y (snd r) with Some q => q | None => 0%Q end | None => 0%Q end.
Proof. reflexivity. Qed.

Lemma checked_row v : In v (map snd (k_emissions k ++ k_rows k ++ k_distributions k)) ->
  (forall e, In e v -> (0 < snd e)%Q) /\ (total v == 1)%Q.
Proof.
  intro I. pose proof ok as C. unfold check_markov in C. rewrite andb_true_iff, !forallb_forall in C. destruct C as [Em Ro].
  assert (D : is_distribution v = true).
  { apply in_map_iff in I. destruct I as (e & <- & I). rewrite in_app_iff in I. destruct I as [I | I]; [now apply Em |].
    apply Ro in I. rewrite andb_true_iff in I. apply I. }
  unfold is_distribution in D. rewrite andb_true_iff, forallb_forall in D. destruct D as [D T]. split; [| now apply Qeq_bool_iff].
  intros e J. now apply positive_q_lt, D.
Qed.

Lemma checked_targets v e : In v (map snd (k_rows k ++ k_distributions k)) -> In e v -> is_state P (fst e) = true.
Proof.
  intros I J. pose proof ok as C. unfold check_markov in C. rewrite andb_true_iff, !forallb_forall in C. destruct C as [_ Ro].
  apply in_map_iff in I. destruct I as (r & <- & I). apply Ro in I. rewrite andb_true_iff, !forallb_forall in I. now apply I.
Qed.

Lemma seen_found s r : PositiveMap.find s (r_seen P) = Some r -> In (fst r) (map snd (k_emissions k)) /\ snd r = build (fst r).
Proof. intro E. apply build_found, in_map_iff in E. destruct E as ([t v] & E & I). injection E as <- <-. split; [| reflexivity].
  now apply (in_map snd) in I. Qed.

Lemma steps_found s e : In e (steps_from H s) -> In (steps_from H s) (map snd (k_rows k)).
Proof. rewrite steps_is. destruct (PositiveMap.find s (r_rows P)) as [v |] eqn:E; [| easy].
  intros _. apply build_found in E. now apply (in_map snd) in E. Qed.

Lemma row_in_model v : In v (map snd (k_rows k)) -> In v (map snd (k_rows k ++ k_distributions k)) /\ In v (map snd (k_emissions k ++ k_rows k ++ k_distributions k)).
Proof. rewrite !map_app, !in_app_iff; auto. Qed.

Lemma observes_ge0 s y : (0 <= observes H s y)%Q.
Proof. rewrite observes_is. destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:E; [| apply Qle_refl].
  apply seen_found in E. destruct E as [I ->]. destruct (PositiveMap.find y _) as [q |] eqn:E; [| apply Qle_refl].
  apply build_found in E. destruct (@checked_row (fst r)) as [Pos _]; [rewrite map_app, in_app_iff; auto |].
  apply Qlt_le_weak. apply (Pos (y, q) E). Qed.

Lemma H_is_hmm : hmm_ok H.
Proof. intro s. split; [| apply observes_ge0]. intros t q I. pose proof (steps_found I) as J. apply row_in_model in J.
  destruct J as [_ J]. destruct (checked_row J) as [Pos _]. apply Qlt_le_weak. apply (Pos (t, q) I). Qed.

Lemma distribution_found name v : distribution k name = Some v -> In v (map snd (k_distributions k)).
Proof. unfold distribution. destruct (find _ _) as [e |] eqn:E; [| easy]. intro Q; injection Q as <-. apply find_some in E.
  now apply in_map. Qed.

Lemma distribution_gt0 name v : distribution k name = Some v -> forall e, In e v -> (0 < snd e)%Q.
Proof. intro D. apply distribution_found in D. apply checked_row. rewrite !map_app, !in_app_iff; auto. Qed.

(** *** Observations that no state of a vector makes *)
Lemma unmade v y : ~ In y (made P v) -> forall e, In e v -> observes H (fst e) y = 0%Q.
Proof.
  intros N e I. rewrite observes_is. destruct (PositiveMap.find (fst e) (r_seen P)) as [r |] eqn:E; [| reflexivity].
  destruct (seen_found E) as [_ ->]. destruct (PositiveMap.find y (build (fst r))) as [q |] eqn:E2; [| reflexivity].
  exfalso; apply N. apply build_found in E2. unfold made.
  set (l := map (fun o : positive * Q => (fst o, tt)) _). assert (K : In y (map fst l)).
  { unfold l. rewrite map_map. apply in_map_iff. exists (y, q); split; [reflexivity |]. apply in_flat_map. exists e; split; [assumption |].
    now rewrite E. }
  apply build_complete in K. destruct (PositiveMap.find y (build l)) as [u |] eqn:Fd; [| easy].
  apply PositiveMap.elements_correct in Fd. now apply (in_map fst) in Fd.
Qed.

Lemma unmade_anywhere y s : ~ In y (made P (everything k)) -> observes H s y = 0%Q.
Proof.
  intro N. pose proof (observes_is s y) as E. destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:Fd; [| exact E].
  clear E. apply build_found, in_map_iff in Fd. destruct Fd as ([t v] & Eq & I). injection Eq as -> _.
  apply (@unmade (everything k) y N (s, 1%Q)). apply in_map_iff. now exists (s, v).
Qed.

Lemma is_known_ok known s : is_known known s = true -> In s known.
Proof. unfold is_known. destruct (PositiveMap.find s _) as [u |] eqn:Fd; [| easy]. intros _. apply build_found, in_map_iff in Fd.
  destruct Fd as (t & Eq & I). injection Eq as <- _. exact I. Qed.

Lemma is_closed_ok known v : is_closed P known v = true ->
  (forall s t q, In s known -> In (t, q) (steps_from H s) -> In t known) /\ (forall e, In e v -> In (fst e) known).
Proof.
  unfold is_closed. cbv zeta. fold H. rewrite andb_true_iff, !forallb_forall. intros [Closed Start]. split.
  - intros s t q I J. apply Closed in I. rewrite forallb_forall in I. apply is_known_ok, (I (t, q) J).
  - intros e I. now apply is_known_ok, Start.
Qed.

Lemma unmade_observed v y : ~ In y (made P v) -> forall e, In e (observed H v y) -> (snd e == 0)%Q.
Proof. intros N e I. apply in_map_iff in I. destruct I as (d & <- & I). cbn [fst snd]. rewrite Qred_correct, (unmade N I). ring. Qed.

Lemma unmade_moved v y : ~ In y (made P v) -> forall e, In e (moved H (observed H v y)) -> (snd e == 0)%Q.
Proof. intros N e I. apply in_flat_map in I. destruct I as (d & J & I). apply in_map_iff in I. destruct I as (t & <- & I). cbn [fst snd].
  rewrite Qred_correct, (unmade_observed N J). ring. Qed.

Lemma unmade_below a v y : ~ In y (made P v) -> below_on a (moved H (observed H v y)) 0 [] = true.
Proof. intro N. apply all_ge0_of. intros e I. apply filter_In in I. destruct I as [I _]. simpl in I. apply in_map_iff in I.
  destruct I as (d & <- & I). cbn [fst snd]. rewrite Qred_correct, (unmade_moved N I). apply Qle_refl. Qed.

Lemma may_end_ok e y : may_end P e = true -> (total (observed H (fst e) y) <= 0)%Q.
Proof. intro M. unfold may_end in M. rewrite forallb_forall in M. destruct (in_dec Pos.eq_dec y (made P (fst e))) as [I | N].
  - apply M in I. now apply Qle_bool_iff.
  - rewrite (total_zero (unmade_observed N)). apply Qle_refl. Qed.

Lemma follows_ok a vectors e y : follows P a vectors e = true ->
  let m := moved H (observed H (fst e) y) in
  below_on a m 0 [] = true \/ exists v' lambda, In v' vectors /\ (0 <= lambda)%Q /\ below_on a m lambda v' = true.
Proof.
  intros Fo m. destruct (in_dec Pos.eq_dec y (made P (fst e))) as [I | N]; [| left; now apply unmade_below].
  unfold follows in Fo. rewrite forallb_forall in Fo. apply Fo in I. fold m in I. unfold is_covered in I.
  destruct (find _ (snd e)) as [[y' [n lambda]] |]; [| now left]. destruct (nth_error vectors n) as [v' |] eqn:E; [| easy].
  rewrite andb_true_iff in I. destruct I as [L B]. right. exists v', lambda. split; [now apply nth_error_In in E |].
  split; [now apply Qle_bool_iff | assumption].
Qed.

(** *** Live states *)
Definition shows (a : alive) (n : nat) : Prop := forall s, is_alive a s = live H n s.

Lemma shows_last : shows None 0.
Proof. intro s; reflexivity. Qed.

Lemma shows_earlier a n : shows a n -> shows (earlier P a) (S n).
Proof.
  intros S s. cbn [live]. rewrite steps_is, earlier_is.
  destruct (PositiveMap.find s (r_rows P)) as [row |]; [| reflexivity].
  induction row as [| e row IH]; simpl; [reflexivity |]. now rewrite IH, S.
Qed.

Lemma below_shown a n v lambda v' : shows a n -> below_on a v lambda v' = true -> below H n v lambda v'.
Proof. intros S B. unfold below, on_live. rewrite <- B. unfold below_on. f_equal. apply filter_ext. intro e. symmetry. apply S. Qed.

Lemma below_all v lambda v' : below_on None v lambda v' = true -> below_everywhere v lambda v'.
Proof. unfold below_on, below_everywhere; simpl. now rewrite filter_all. Qed.

Lemma goes_on n : forall s, is_state P s = true -> live H n s = true -> exists w, length w = S n /\ 0 < from F H w s.
Proof.
  assert (Sees : forall s, is_state P s = true -> exists y, 0 < (ofQ (observes H s y) : F)).
  { intros s K. unfold is_state in K. destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:E; [| easy].
    destruct (seen_found E) as [I B]. destruct (@checked_row (fst r)) as [Pos T]; [rewrite map_app, in_app_iff; auto |].
    apply total_some in T. destruct T as [[y q] J]. exists y. apply ofQ_gt0.
    rewrite observes_is, E, B.
    destruct (PositiveMap.find y (build (fst r))) as [q' |] eqn:Fd; [apply build_found in Fd; apply (Pos (y, q') Fd) |].
    exfalso. apply (in_map fst) in J. now apply build_complete in J. }
  induction n as [| n IH]; intros s K L.
  - destruct (Sees s K) as [y Y]. exists [y]; split; [reflexivity |]. simpl. apply mul_gt0; [assumption | apply one_gt0].
  - simpl in L. apply existsb_exists in L. destruct L as ([t q] & I & L). simpl in L. pose proof (steps_found I) as R.
    apply row_in_model in R. destruct R as [R1 R2]. destruct (IH t) as (w & Len & W); [apply (checked_targets R1 I) | assumption |].
    destruct (Sees s K) as [y Y]. destruct w as [| z w]; [easy |]. exists (y :: z :: w). split; [simpl in *; lia |].
    change (0 < ofQ (observes H s y) * after_leaving F H (z :: w) s). rewrite leaving_from. apply mul_gt0; [assumption |].
    destruct (checked_row R2) as [Pos _]. apply (eval_gt0 (s := t) (q := q)); try assumption.
    intro u. now apply from_ge0, H_is_hmm.
Qed.

(** *** Layers *)
Lemma checked_layers next : forall first a, check_layers P false first next = Some a ->
  shows a (length next) /\ forall seen, layers_ok H seen (map fst first) (map (map fst) next).
Proof.
  induction next as [| second next IH]; intros first a E; simpl in E.
  - destruct (forallb (may_end P) first) eqn:M; [| easy]. injection E as <-. split; [apply shows_last |]. intros seen v y I _.
    apply in_map_iff in I. destruct I as (e & <- & I). rewrite forallb_forall in M. now apply may_end_ok, M.
  - destruct (check_layers P false second next) as [b |] eqn:E2; [| easy]. rewrite andb_true_r in E.
    destruct (forallb (follows P b (map fst second)) first) eqn:M; [| easy]. injection E as <-.
    destruct (IH second b E2) as [Sh L]. split; [simpl; now apply shows_earlier |]. intro seen. simpl. split; [| apply L].
    intros v y I _. apply in_map_iff in I. destruct I as (e & <- & I). rewrite forallb_forall in M. apply M in I.
    rewrite map_length. destruct (follows_ok y I) as [B | (v' & lambda & I' & L0 & B)].
    + left. now apply below_shown with b.
    + right. exists v', lambda. split; [assumption | split; [assumption |]]. now apply below_shown with b.
Qed.

Lemma checked_layers_up_to next : forall first a, check_layers P true first next = Some a ->
  a = None /\ forall seen, layers_ok_up_to H seen (map fst first) (map (map fst) next).
Proof.
  assert (Ends : forall first seen, forallb (may_end P) first = true ->
    forall v y, In v (map fst first) -> In y seen -> (total (observed H v y) <= 0)%Q).
  { intros first seen M v y I _. apply in_map_iff in I. destruct I as (e & <- & I). rewrite forallb_forall in M. now apply may_end_ok, M. }
  induction next as [| second next IH]; intros first a E; simpl in E.
  - destruct (forallb (may_end P) first) eqn:M; [| easy]. injection E as <-. split; [reflexivity |]. intro seen. split; [now apply Ends | exact I].
  - destruct (check_layers P true second next) as [b |] eqn:E2; [| easy].
    destruct (forallb (follows P b (map fst second)) first) eqn:M; [| easy].
    destruct (forallb (may_end P) first) eqn:M2; [| easy]. injection E as <-.
    destruct (IH second b E2) as [-> L]. split; [reflexivity |]. intro seen. simpl. split; [now apply Ends |]. split; [| apply L].
    intros v y I _. apply in_map_iff in I. destruct I as (e & <- & I). rewrite forallb_forall in M. apply M in I.
    destruct (follows_ok y I) as [B | (v' & lambda & I' & L0 & B)].
    + left. now apply below_all.
    + right. exists v', lambda. split; [assumption | split; [assumption |]]. now apply below_all.
Qed.

Section Budgets.
Variables (n : nat) (up_to : bool).
Let counting := counts n up_to.

Lemma checked_proof p pi tau : check_proof k P n up_to p = true ->
  distribution k (p_from p) = Some pi -> distribution k (p_to p) = Some tau ->
  bounded_by F H counting (p_ratio p) pi tau /\ possible F H counting pi tau.
Proof.
  intros C Dp Dt. unfold check_proof in C. rewrite Dp, Dt in C.
  destruct (p_layers p) as [| first next]; [easy |]. destruct first as [| [v cs] rest] eqn:Fi; [easy |]. rewrite <- Fi in *.
  rewrite !andb_true_iff in C. destruct C as [[[Len _] S0] C]. apply Nat.eqb_eq in Len. apply Qle_bool_iff in S0.
  assert (Iv : In v (map fst first)) by (rewrite Fi; now left). clear Fi rest cs.
  assert (Reach : forall a m, (forall s, is_alive a s = true -> live H m s = true) -> existsb (fun e : positive * Q => is_alive a (fst e)) (pi ++ tau) = true ->
    exists w, length w = S m /\ (0 < probability_of F H pi w \/ 0 < probability_of F H tau w)).
  { intros a m Sh E. apply existsb_exists in E. destruct E as ([s q] & I & A). simpl in A. apply Sh in A. apply in_app_iff in I.
    assert (G : forall name u, distribution k name = Some u -> In (s, q) u -> exists w, length w = S m /\ 0 < probability_of F H u w).
    { intros name u D J. destruct (@goes_on m s) as (w & Lw & W); [| assumption |].
      - apply distribution_found in D. apply (@checked_targets u (s, q)); [rewrite map_app, in_app_iff; auto | assumption].
      - exists w; split; [assumption |]. apply (eval_gt0 (s := s) (q := q)); try assumption; [now apply (distribution_gt0 D) |].
        intro t; now apply from_ge0, H_is_hmm. }
    destruct I as [I | I]; [destruct (G _ _ Dp I) as (w & Lw & W) | destruct (G _ _ Dt I) as (w & Lw & W)]; exists w; auto. }
  destruct (check_layers P up_to first next) as [a |] eqn:E; [| easy]. rewrite andb_true_iff in C. destruct C as [B Ex].
  unfold bounded_by, possible, counting, counts. destruct up_to.
  - apply checked_layers_up_to in E. destruct E as [-> L]. apply below_all in B. split.
    + intros w [Nw Lw]. apply (@layers_prove_budget_up_to F H H_is_hmm w pi tau (p_ratio p) v (map fst first) (map (map fst) next) (p_start p)); auto.
      rewrite <- Len in Lw. rewrite map_length. exact Lw.
    + destruct (Reach None 0%nat) as (w & Lw & W); [reflexivity | assumption |]. exists w. split; [| assumption]. split; [intros ->; discriminate | lia].
  - apply checked_layers in E. destruct E as [Sh L]. split.
    + intros w [Nw Lw]. apply (@layers_prove_budget F H H_is_hmm w pi tau (p_ratio p) v (map fst first) (map (map fst) next) (p_start p)); auto.
      * rewrite map_length. now apply below_shown with a.
      * rewrite <- Len in Lw. rewrite map_length. exact Lw.
    + destruct (Reach a (length next)) as (w & Lw & W); [intros s A; now rewrite <- Sh | assumption |]. exists w. split; [| assumption].
      split; [intros ->; discriminate | lia].
Qed.

(** *** Words *)
Lemma forward_ok v w : w <> [] -> ofQ (forward P v w) = probability_of F H v w.
Proof.
  destruct w as [| y w]; [easy |]. intros _. simpl. unfold probability_of. simpl.
  change (hidden P) with H. transitivity (eval (advanced H (norm (observed H v y)) w) (fun _ => 1 : F)); [rewrite eval_const; ring |].
  now rewrite eval_advanced, eval_norm, eval_observed.
Qed.

Lemma is_counted_ok w : is_counted n up_to w = true -> counting w.
Proof. unfold is_counted, counting, counts. destruct w as [| y w]; [easy |]. intro E. split; [easy |]. destruct up_to; [now apply Nat.leb_le | now apply Nat.eqb_eq]. Qed.

Lemma exceeds pi tau w a b r : counting w -> probability_of F H pi w = ofQ a -> probability_of F H tau w = ofQ b ->
  is_budget F H counting r pi tau -> (a <= r * b /\ b <= r * a)%Q.
Proof. intros Cw A B [L R]. specialize (L w Cw). specialize (R w Cw).  rewrite A, B, <- ofQ_mul in L, R.
  split; now apply ofQ_le_back. Qed.

Lemma checked_budget (proofs : list layer_proof) (claims : list budget_claim) c :
  (forall p, In p proofs -> check_proof k P n up_to p = true) -> check_budget k P n up_to proofs c = true ->
  budget_true F {| x_markov := k; x_length := n; x_up_to := up_to; x_proofs := proofs; x_budgets := claims |} c.
Proof.
  intros Ps Ic. unfold check_budget in Ic. rewrite andb_true_iff in Ic. destruct Ic as [Wo Pr].
  assert (Proved : forall s t r, is_proved proofs s t r = true -> exists pi tau,
    distribution k s = Some pi /\ distribution k t = Some tau /\ bounded_by F H counting r pi tau /\ possible F H counting pi tau).
  { intros s t r E. apply existsb_exists in E. destruct E as (p & Ip & E). rewrite !andb_true_iff in E. destruct E as [[Es Et] Lr].
    apply Pos.eqb_eq in Es; apply Pos.eqb_eq in Et; subst s t. apply Qle_bool_iff in Lr. apply Ps in Ip. pose proof Ip as Cp.
    unfold check_proof in Ip. destruct (distribution k (p_from p)) as [pi |] eqn:Dp; [| easy].
    destruct (distribution k (p_to p)) as [tau |] eqn:Dt; [| easy]. destruct (checked_proof Cp Dp Dt) as [Bd Po].
    exists pi, tau. split; [reflexivity | split; [reflexivity | split; [| assumption]]]. intros w Cw.
    apply le_trans with (1 := Bd w Cw). apply le_by with ((ofQ r - ofQ (p_ratio p)) * probability_of F H tau w); [ring |].
    apply le_mul; [apply sub_ge0; now apply ofQ_le |]. apply eval_ge0; [| intros; apply from_ge0, H_is_hmm].
    intros u q J. apply Qlt_le_weak. apply (distribution_gt0 Dt (e := (u, q)) J). }
  assert (Holds : forall r, b_holds c = true -> b_ratio c = Some r -> exists pi tau,
    distribution k (b_from c) = Some pi /\ distribution k (b_to c) = Some tau /\ is_budget F H counting r pi tau /\ possible F H counting pi tau).
  { intros r Eh Er. rewrite Eh, Er, andb_true_iff in Pr. destruct Pr as [P1 P2]. destruct (Proved _ _ _ P1) as (pi & tau & Dp & Dt & Bd & Po).
    destruct (Proved _ _ _ P2) as (tau' & pi' & Dt' & Dp' & Bd' & _). rewrite Dp in Dp'; injection Dp' as <-. rewrite Dt in Dt'; injection Dt' as <-.
    exists pi, tau. repeat split; assumption. }
  clear Ps Proved. unfold check_word in Wo. unfold budget_true. cbn [x_markov x_length x_up_to]. fold P H counting.
  destruct (b_word c) as [[w [a b]] |] eqn:Ew.
  - destruct (distribution k (b_from c)) as [pi |] eqn:Dp; [| easy]. destruct (distribution k (b_to c)) as [tau |] eqn:Dt; [| easy].
    rewrite !andb_true_iff in Wo. destruct Wo as [[[Cw A] B] Wo]. apply is_counted_ok in Cw. pose proof Cw as [Nw _].
    apply Qeq_bool_iff in A. apply Qeq_bool_iff in B.
    assert (A' : probability_of F H pi w = ofQ a) by (rewrite <- (forward_ok pi Nw); now apply ofQ_eq).
    assert (B' : probability_of F H tau w = ofQ b) by (rewrite <- (forward_ok tau Nw); now apply ofQ_eq).
    assert (A0 : (0 <= a)%Q).
    { apply ofQ_le_back. rewrite <- A', ofQ_0. apply eval_ge0; [| intros; apply from_ge0, H_is_hmm].
      intros u q J. apply Qlt_le_weak. apply (distribution_gt0 Dp (e := (u, q)) J). }
    assert (B0 : (0 <= b)%Q).
    { apply ofQ_le_back. rewrite <- B', ofQ_0. apply eval_ge0; [| intros; apply from_ge0, H_is_hmm].
      intros u q J. apply Qlt_le_weak. apply (distribution_gt0 Dt (e := (u, q)) J). }
    exists pi, tau. split; [reflexivity | split; [reflexivity | split; [auto |]]].
    destruct (b_holds c) eqn:Eh; destruct (b_ratio c) as [r |] eqn:Er; try easy.
    + destruct (Holds r) as (pi' & tau' & Dp' & Dt' & Bd & Po); try reflexivity. injection Dp' as <-. injection Dt' as <-.
      split; [assumption | split; [assumption |]]. intros _ r' Bd'. destruct (exceeds Cw A' B' Bd') as [L1 L2].
      rewrite andb_true_iff in Wo. destruct Wo as [Eq Hi]. apply Qeq_bool_iff in Eq. apply positive_q_lt in Hi.
      destruct (Qlt_le_dec r' r) as [Less |]; [exfalso | assumption].
      destruct (Qle_bool a b); rewrite Eq in Hi.
      * rewrite Eq in L2. assert (Z : (0 < a)%Q) by (apply Qnot_le_lt; intro; assert (Z : (a == 0)%Q) by lra; rewrite Z in Hi; lra). nra.
      * rewrite Eq in L1. assert (Z : (0 < b)%Q) by (apply Qnot_le_lt; intro; assert (Z : (b == 0)%Q) by lra; rewrite Z in Hi; lra). nra.
    + intros r Bd. destruct (exceeds Cw A' B' Bd) as [L1 L2]. rewrite andb_true_iff in Wo. destruct Wo as [Lo Hi].
      apply Qeq_bool_iff in Lo. apply positive_q_lt in Hi. destruct (Qle_bool a b); rewrite Lo in *; lra.
    + intro Bd. destruct (exceeds Cw A' B' Bd) as [L1 L2]. rewrite negb_true_iff, <- not_true_iff_false, Qle_bool_iff in Wo. apply Wo.
      destruct (Qle_bool a b); assumption.
  - destruct (b_holds c) eqn:Eh; destruct (b_ratio c) as [r |] eqn:Er; try easy.
    destruct (Holds r) as (pi & tau & Dp & Dt & Bd & Po); try reflexivity. exists pi, tau.
    split; [assumption | split; [assumption | split; [exact I | split; [assumption | split; [assumption | easy]]]]].
Qed.
End Budgets.
End Sound.

Theorem check_budgets_sound (F : OrderedField) x c : check_budgets x = true -> In c (x_budgets x) -> budget_true F x c.
Proof.
  intros O Ic. unfold check_budgets in O. cbv zeta in O. rewrite !andb_true_iff, !forallb_forall in O. destruct O as [[K Ps] Cs].
  destruct x as [k n up_to proofs claims]. apply checked_budget; [exact K | exact Ps | now apply Cs]. Qed.

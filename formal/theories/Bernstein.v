(** * Bernstein coefficients (rules B2, B3 and B5 of docs/certificates/hmm-proofs.md)

    Polynomials in n variables are nested functions of exponents, with a degree for each variable. Their coefficients over a box
    are written here without the binomials by which Bernstein coefficients are divided: [coefficients] at the index i is
    binomial(d, i) times the i-th Bernstein coefficient, so the signs are the same. *)

From Coq Require Import ZArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField.
Set Implicit Arguments.
Unset Strict Implicit.

Fixpoint choose (n k : nat) : nat :=
  match n, k with
  | _, O => 1
  | O, S _ => 0
  | S n', S k' => choose n' k' + choose n' k
  end.

Lemma choose_zero n : forall k, (n < k)%nat -> choose n k = 0%nat.
Proof. induction n as [| n IH]; intros [| k] L; simpl; try lia. rewrite !IH; lia. Qed.

Definition ofN (n : nat) : Q := inject_Z (Z.of_nat n).

(** ** Polynomials in n variables *)
Fixpoint tensor (n : nat) : Type := match n with O => Q | S m => nat -> tensor m end.

Fixpoint tzero (n : nat) : tensor n := match n with O => 0%Q | S m => fun _ => tzero m end.
Fixpoint tadd (n : nat) : tensor n -> tensor n -> tensor n :=
  match n with O => fun p q => (p + q)%Q | S m => fun p q i => tadd (p i) (q i) end.
Fixpoint tscale (n : nat) (x : Q) : tensor n -> tensor n :=
  match n with O => fun p => (x * p)%Q | S m => fun p i => tscale x (p i) end.

(** Horner's scheme in one variable, homogeneous in t and u = 1 - t: a_0 + x q, where x = low u + high t. *)
Fixpoint along (m : nat) (low high : Q) (d : nat) (a : nat -> tensor m) (i : nat) : tensor m :=
  match d with
  | O => match i with O => a O | S _ => tzero m end
  | S d' =>
      let b := along low high d' (fun k => a (S k)) in
      tadd (tscale (ofN (choose (S d') i)) (a O))
           (tadd (tscale low (b i)) (match i with O => tzero m | S j => tscale high (b j) end))
  end.

(** Scaled Bernstein coefficients over a box: [degree], [low] and [high] by variable. *)
Fixpoint coefficients (n : nat) (degree : nat -> nat) (low high : nat -> Q) : tensor n -> tensor n :=
  match n with
  | O => fun p => p
  | S m => fun p => along (low O) (high O) (degree O)
      (fun k => coefficients (fun v => degree (S v)) (fun v => low (S v)) (fun v => high (S v)) (p k))
  end.

(** No coefficient is negative (rule B3). *)
Fixpoint none_negative (n : nat) (degree : nat -> nat) : tensor n -> Prop :=
  match n with
  | O => fun p => (0 <= p)%Q
  | S m => fun p => forall i, (i <= degree O)%nat -> none_negative (fun v => degree (S v)) (p i)
  end.

Section Bernstein.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

Fixpoint pow (x : F) (n : nat) : F := match n with O => 1 | S n' => x * pow x n' end.

(** The value of a polynomial at a point. *)
Fixpoint horner (d : nat) (x : F) (a : nat -> F) : F :=
  match d with O => a O | S d' => a O + x * horner d' x (fun k => a (S k)) end.

Fixpoint value (n : nat) (degree : nat -> nat) (x : nat -> F) : tensor n -> F :=
  match n with
  | O => fun p => ofQ p
  | S m => fun p => horner (degree O) (x O) (fun k => value (fun v => degree (S v)) (fun v => x (S v)) (p k))
  end.

(** The sum of c_i t^i u^(d - i). *)
Fixpoint spread (d : nat) (t u : F) (c : nat -> F) : F :=
  match d with O => c O | S d' => c O * pow u d + t * spread d' t u (fun i => c (S i)) end.

Fixpoint spread_value (n : nat) (degree : nat -> nat) (t : nat -> F) : tensor n -> F :=
  match n with
  | O => fun p => ofQ p
  | S m => fun p => spread (degree O) (t O) (1 - t O) (fun i => spread_value (fun v => degree (S v)) (fun v => t (S v)) (p i))
  end.

Lemma spread_ext d t u c c' : (forall i, (i <= d)%nat -> c i = c' i) -> spread d t u c = spread d t u c'.
Proof. revert c c'; induction d as [| d IH]; intros c c' E; simpl; [apply E; lia |].
  rewrite (E O) by lia. f_equal. f_equal. apply IH; intros; apply E; lia. Qed.

Lemma spread_add d t u c c' : spread d t u (fun i => c i + c' i) = spread d t u c + spread d t u c'.
Proof. revert c c'; induction d as [| d IH]; intros c c'; simpl; [reflexivity |]. rewrite IH; ring. Qed.

Lemma spread_mul d t u x c : spread d t u (fun i => x * c i) = x * spread d t u c.
Proof. revert c; induction d as [| d IH]; intro c; simpl; [reflexivity |]. rewrite IH; ring. Qed.

Lemma spread_pad d t u c : c (S d) = 0 -> spread (S d) t u c = u * spread d t u c.
Proof. revert c; induction d as [| d IH]; intros c Z; [simpl; rewrite Z; ring |].
  change (spread (S (S d)) t u c) with (c O * pow u (S (S d)) + t * spread (S d) t u (fun i => c (S i))).
  rewrite IH by assumption. simpl; ring. Qed.

Lemma spread_shift d t u c : spread (S d) t u (fun i => match i with O => 0 | S j => c j end) = t * spread d t u c.
Proof. simpl. change (fun i => c i) with c. ring. Qed.

Lemma ofN_add a b : ofQ (ofN (a + b)) = ofQ (ofN a) + (ofQ (ofN b) : F).
Proof. rewrite <- ofQ_add; apply ofQ_eq. unfold ofN. now rewrite Nat2Z.inj_add, inject_Z_plus. Qed.

Lemma spread_one d t u : t + u = 1 -> spread d t u (fun i => ofQ (ofN (choose d i))) = 1.
Proof.
  intro E; induction d as [| d IH]; [simpl; apply ofQ_1 |].
  rewrite (@spread_ext _ _ _ _ (fun i => ofQ (ofN (choose d i)) + match i with O => 0 | S j => ofQ (ofN (choose d j)) end)).
  - rewrite spread_add, spread_shift, spread_pad by (rewrite choose_zero by lia; apply ofQ_0).
    rewrite IH. transitivity (t + u); [ring | exact E].
  - intros [| j] _.
    + replace (choose (S d) 0) with (choose d 0) by (now destruct d). ring.
    + change (choose (S d) (S j)) with (choose d j + choose d (S j))%nat. rewrite ofN_add; ring. Qed.

(** What [along] does to values. *)
Fixpoint alongF (low high : Q) (d : nat) (a : nat -> F) (i : nat) : F :=
  match d with
  | O => match i with O => a O | S _ => 0 end
  | S d' =>
      let b := alongF low high d' (fun k => a (S k)) in
      ofQ (ofN (choose (S d') i)) * a O + (ofQ low * b i + match i with O => 0 | S j => ofQ high * b j end)
  end.

Lemma alongF_zero low high d : forall a i, (d < i)%nat -> alongF low high d a i = 0.
Proof. induction d as [| d IH]; intros a [| i] L; try lia; [reflexivity |].
  cbn [alongF]. rewrite choose_zero, !IH by lia. change (ofN 0) with 0%Q. rewrite ofQ_0; ring. Qed.

Lemma spread_alongF low high d t u x : t + u = 1 -> x = ofQ low * u + ofQ high * t ->
  forall a, spread d t u (alongF low high d a) = horner d x a.
Proof.
  intros E Ex; induction d as [| d IH]; intro a; [reflexivity |].
  set (b := alongF low high d (fun k => a (S k))).
  rewrite (@spread_ext _ _ _ _ (fun i => a O * ofQ (ofN (choose (S d) i))
     + (ofQ low * b i + ofQ high * match i with O => 0 | S j => b j end))).
  - rewrite spread_add, spread_mul, spread_one, spread_add, !spread_mul, spread_shift by assumption.
    rewrite spread_pad by (apply alongF_zero; lia). unfold b; rewrite IH. cbn [horner]. rewrite Ex; ring.
  - intros [| j] _; cbn [alongF]; fold b; ring. Qed.

Lemma spread_value_zero n : forall degree t, spread_value degree t (tzero n) = 0.
Proof. induction n as [| n IH]; intros degree t; simpl; [apply ofQ_0 |].
  rewrite (@spread_ext _ _ _ _ (fun _ => 0 * 0)) by (intros; rewrite IH; ring). rewrite spread_mul; ring. Qed.

Lemma spread_value_add n : forall degree t (p q : tensor n),
  spread_value degree t (tadd p q) = spread_value degree t p + spread_value degree t q.
Proof. induction n as [| n IH]; intros degree t p q; simpl; [apply ofQ_add |].
  rewrite <- spread_add. apply spread_ext; intros; apply IH. Qed.

Lemma spread_value_scale n x : forall degree t (p : tensor n),
  spread_value degree t (tscale x p) = ofQ x * spread_value degree t p.
Proof. induction n as [| n IH]; intros degree t p; simpl; [apply ofQ_mul |].
  rewrite <- spread_mul. apply spread_ext; intros; apply IH. Qed.

Lemma spread_value_along n degree t low high d : forall (a : nat -> tensor n) i,
  spread_value degree t (along low high d a i) = alongF low high d (fun k => spread_value degree t (a k)) i.
Proof. induction d as [| d IH]; intros a i.
  - destruct i; [reflexivity | apply spread_value_zero].
  - cbn [along alongF]. rewrite !spread_value_add, !spread_value_scale, IH.
    destruct i; [now rewrite spread_value_zero | now rewrite spread_value_scale, IH]. Qed.

(** The coefficients represent the polynomial. *)
Theorem coefficients_represent n : forall degree low high t x (p : tensor n),
  (forall v, (v < n)%nat -> x v = ofQ (low v) * (1 - t v) + ofQ (high v) * t v) ->
  spread_value degree t (coefficients degree low high p) = value degree x p.
Proof.
  induction n as [| n IH]; intros degree low high t x p X; [reflexivity |].
  cbn [spread_value coefficients value].
  rewrite (@spread_ext _ _ _ _ (alongF (low O) (high O) (degree O)
    (fun k => value (fun v => degree (S v)) (fun v => x (S v)) (p k)))).
  - apply spread_alongF; [ring | apply X; lia].
  - intros i _. rewrite spread_value_along.
    assert (Ext : forall d a a' i, (forall k, a k = a' k) -> alongF (low O) (high O) d a i = alongF (low O) (high O) d a' i).
    { induction d as [| d IHd]; intros a a' j K; [destruct j; [apply K | reflexivity] |].
      cbn [alongF]. rewrite (K O), (IHd (fun k => a (S k)) (fun k => a' (S k)) j) by (intros; apply K).
      destruct j as [| j]; [reflexivity |]. now rewrite (IHd (fun k => a (S k)) (fun k => a' (S k)) j) by (intros; apply K). }
    apply Ext; intro k. apply IH; intros v L; apply (X (S v)); lia. Qed.

Lemma pow_ge0 x n : 0 <= x -> 0 <= pow x n.
Proof. intro Hx; induction n; simpl; [apply one_ge0 | now apply le_mul]. Qed.

Lemma spread_ge0 d t u c : 0 <= t -> 0 <= u -> (forall i, (i <= d)%nat -> 0 <= c i) -> 0 <= spread d t u c.
Proof. intros T U; revert c; induction d as [| d IH]; intros c Hc; simpl; [apply Hc; lia |].
  apply add_ge0.
  - apply le_mul; [apply Hc; lia |]. apply le_mul; [assumption | now apply pow_ge0].
  - apply le_mul; [assumption |]. apply IH; intros; apply Hc; lia. Qed.

Lemma none_negative_ge0 n : forall degree t (p : tensor n), (forall v, 0 <= t v <= 1) -> none_negative degree p ->
  0 <= spread_value degree t p.
Proof. induction n as [| n IH]; intros degree t p T N; simpl; [now apply ofQ_ge0 |].
  destruct (T O). apply spread_ge0; [assumption | now apply sub_ge0 |]. intros i L; apply IH; auto. Qed.

(** Theorem (rule B3). Where no Bernstein coefficient over a box is negative, neither is the polynomial on the closed box. *)
Theorem bernstein n degree low high (p : tensor n) : (forall v, (low v < high v)%Q) ->
  none_negative degree (coefficients degree low high p) ->
  forall x, (forall v, ofQ (low v) <= x v <= ofQ (high v)) -> 0 <= value degree x p.
Proof.
  intros LH N x B. set (t v := (x v - ofQ (low v)) * inv (ofQ (high v) - ofQ (low v)) : F).
  assert (W : forall v, 0 < (ofQ (high v) - ofQ (low v) : F)) by (intro v; apply sub_gt0; now apply ofQ_lt).
  rewrite <- (@coefficients_represent n degree low high t x p).
  - apply none_negative_ge0; [| assumption]. intro v; destruct (B v) as [B0 B1]; unfold t; split.
    + apply le_mul; [now apply sub_ge0 | now apply lt_le, inv_gt0].
    + apply le_by with ((ofQ (high v) - x v) * inv (ofQ (high v) - ofQ (low v))); [field; now apply lt_neq |].
      apply le_mul; [now apply sub_ge0 | now apply lt_le, inv_gt0].
  - intros v _; unfold t; field; now apply lt_neq. Qed.

(** Proofs by halving: a leaf, or a cut of the box in one variable (rule B2). *)
Inductive cuts := Leaf | Cut (v : nat) (at_ : Q) (below above : cuts).

Definition replace (f : nat -> Q) (v : nat) (q : Q) (w : nat) : Q := if Nat.eqb w v then q else f w.

Fixpoint proves (n : nat) (degree : nat -> nat) (p : tensor n) (tree : cuts) (low high : nat -> Q) : Prop :=
  match tree with
  | Leaf => none_negative degree (coefficients degree low high p)
  | Cut v c l r => (low v < c)%Q /\ (c < high v)%Q /\ proves degree p l low (replace high v c) /\ proves degree p r (replace low v c) high
  end.

Theorem cuts_prove n degree (p : tensor n) tree : forall low high, (forall v, (low v < high v)%Q) -> proves degree p tree low high ->
  forall x, (forall v, ofQ (low v) <= x v <= ofQ (high v)) -> 0 <= value degree x p.
Proof.
  induction tree as [| v c l IHl r IHr]; intros low high LH P x B; simpl in P; [now apply (bernstein LH P) |].
  destruct P as (C0 & C1 & Pl & Pr). destruct (le_lt (x v) (ofQ c)) as [L | L].
  - apply (IHl low (replace high v c)); auto; intro w; unfold replace; destruct (Nat.eqb w v) eqn:E; auto;
      apply Nat.eqb_eq in E; subst; [assumption |]. split; [apply B | assumption].
  - apply (IHr (replace low v c) high); auto; intro w; unfold replace; destruct (Nat.eqb w v) eqn:E; auto;
      apply Nat.eqb_eq in E; subst; [assumption |]. split; [now apply lt_le | apply B].
Qed.

(** Rule B5: a square times what is not negative is not negative. *)
Lemma square_times (g h : F) : 0 <= h -> 0 <= g * g * h.
Proof. intro Hh. apply le_mul; [| assumption]. destruct (le_total (0 : F) g) as [G | G]; [now apply le_mul |].
  apply le_by with ((0 - g) * (0 - g)); [ring |]. apply le_mul; now apply sub_ge0. Qed.

End Bernstein.

(** * Ordered fields with a decidable order, and the rationals inside them.

    Everything in this directory is proved for an arbitrary ordered field, because the least fixed points that
    certificates speak of are numbers of such a field: of the reals, if one likes, or of the rationals. What a
    certificate holds (probabilities, masses, values) is rational, and [ofQ] carries it into the field.
    No axiom is used: an ordered field is a record, and [Qc_field] shows that there is one. *)

From Coq Require Import ZArith QArith Qcanon Field Field_theory Ring_theory InitialRing Bool List Lia.
Set Implicit Arguments.
Unset Strict Implicit.

Record OrderedField := {
  carrier :> Type;
  zero : carrier;
  one : carrier;
  add : carrier -> carrier -> carrier;
  mul : carrier -> carrier -> carrier;
  sub : carrier -> carrier -> carrier;
  opp : carrier -> carrier;
  div : carrier -> carrier -> carrier;
  inv : carrier -> carrier;
  le : carrier -> carrier -> Prop;
  field_ok : field_theory zero one add mul sub opp div inv eq;
  le_dec : forall x y, {le x y} + {~ le x y};
  le_total : forall x y, le x y \/ le y x;
  le_antisym : forall x y, le x y -> le y x -> x = y;
  le_trans : forall x y z, le x y -> le y z -> le x z;
  le_add : forall x y z, le x y -> le (add x z) (add y z);
  le_mul : forall x y, le zero x -> le zero y -> le zero (mul x y)
}.

Arguments zero {_}.
Arguments one {_}.
Arguments add {_}.
Arguments mul {_}.
Arguments sub {_}.
Arguments opp {_}.
Arguments div {_}.
Arguments inv {_}.
Arguments le {_}.

Declare Scope field_scope.
Delimit Scope field_scope with F.
Bind Scope field_scope with carrier.
Notation "0" := zero : field_scope.
Notation "1" := one : field_scope.
Notation "x + y" := (add x y) : field_scope.
Notation "x * y" := (mul x y) : field_scope.
Notation "x - y" := (sub x y) : field_scope.
Notation "- x" := (opp x) : field_scope.
Notation "x / y" := (div x y) : field_scope.
Notation "x <= y" := (le x y) : field_scope.
Notation "x <= y <= z" := (le x y /\ le y z) : field_scope.
Notation "x < y" := (~ le y x) : field_scope.

Section Order.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Implicit Types x y z : F.
Local Open Scope field_scope.

Lemma le_refl x : x <= x.
Proof. destruct (le_total x x); assumption. Qed.

Lemma lt_le x y : x < y -> x <= y.
Proof. intro H; destruct (le_total x y); [assumption | contradiction]. Qed.

Lemma le_lt x y : x <= y \/ y < x.
Proof. destruct (le_dec x y); auto. Qed.

Lemma sub_ge0 x y : x <= y -> 0 <= y - x.
Proof. intro H; apply (le_add (- x)) in H. now replace (x + - x) with (0 : F) in H by ring;
  replace (y + - x) with (y - x) in H by ring. Qed.

Lemma ge0_sub x y : 0 <= y - x -> x <= y.
Proof. intro H; apply (le_add x) in H. now replace (0 + x) with x in H by ring;
  replace (y - x + x) with y in H by ring. Qed.

(** The shape of every step with inequalities: what is to be shown differs by something that is not negative. *)
Lemma le_by t x y : y - x = t -> 0 <= t -> x <= y.
Proof. intros E H; apply ge0_sub; now rewrite E. Qed.

Lemma no_difference x y : x + - (1) * y = 0 -> x = y.
Proof. intro E. replace x with (x + - (1) * y + y) by ring. rewrite E; ring. Qed.

Lemma add_ge0 x y : 0 <= x -> 0 <= y -> 0 <= x + y.
Proof. intros Hx Hy; apply le_trans with y; [assumption |].
  apply (le_add y) in Hx. now replace (0 + y) with y in Hx by ring. Qed.

Lemma le_add2 x y z t : x <= y -> z <= t -> x + z <= y + t.
Proof. intros H K. apply le_by with ((y - x) + (t - z)); [ring |].
  apply add_ge0; now apply sub_ge0. Qed.

Lemma le_scale x y z : 0 <= z -> x <= y -> z * x <= z * y.
Proof. intros H K. apply le_by with (z * (y - x)); [ring |]. apply le_mul; [assumption | now apply sub_ge0]. Qed.

Lemma one_ge0 : (0 : F) <= 1.
Proof. destruct (le_total (0 : F) 1) as [H | H]; [assumption |].
  assert (K : (0 : F) <= - (1)) by (apply le_by with (0 - 1 : F); [ring | now apply sub_ge0]).
  apply le_by with ((- (1)) * (- (1)) : F); [ring | now apply le_mul]. Qed.

Lemma one_gt0 : (0 : F) < 1.
Proof. intro H. apply (F_1_neq_0 (field_ok F)). apply le_antisym; [assumption | apply one_ge0]. Qed.

Lemma lt_neq x : 0 < x -> x <> 0.
Proof. intros H E; apply H; rewrite E; apply le_refl. Qed.

Lemma mul_gt0 x y : 0 < x -> 0 < y -> 0 < x * y.
Proof. intros Hx Hy H.
  assert (E : x * y = 0) by (apply le_antisym; [assumption | apply le_mul; now apply lt_le]).
  apply (lt_neq Hy). replace y with (x * y * inv x) by (field; now apply lt_neq). rewrite E; ring. Qed.

Lemma inv_gt0 x : 0 < x -> 0 < inv x.
Proof. intros Hx H. apply one_gt0.
  replace (1 : F) with (x * inv x) by (field; now apply lt_neq).
  apply le_by with (x * (0 - inv x)); [ring |]. apply le_mul; [now apply lt_le | now apply sub_ge0]. Qed.

Lemma add_gt0 x y : 0 < x -> 0 <= y -> 0 < x + y.
Proof. intros Hx Hy H; apply Hx.
  apply le_by with ((0 - (x + y)) + y); [ring |]. apply add_ge0; [now apply sub_ge0 | assumption]. Qed.

Lemma lt_by t x y : y - x = t -> 0 < t -> x < y.
Proof. intros E H K; apply H; rewrite <- E. apply le_by with (x - y); [ring | now apply sub_ge0]. Qed.

Lemma sub_gt0 x y : x < y -> 0 < y - x.
Proof. intros H K; apply H. apply le_by with (0 - (y - x)); [ring | now apply sub_ge0]. Qed.

Lemma lt_le_trans x y z : x < y -> y <= z -> x < z.
Proof. intros H K L; apply H; now apply le_trans with z. Qed.

Lemma le_lt_trans x y z : x <= y -> y < z -> x < z.
Proof. intros H K L; apply K; now apply le_trans with x. Qed.

Definition eq_dec x y : {x = y} + {x <> y}.
Proof. destruct (le_dec x y) as [H | H]; [destruct (le_dec y x) as [K | K] |].
  - left; now apply le_antisym.
  - right; intro E; apply K; rewrite E; apply le_refl.
  - right; intro E; apply H; rewrite E; apply le_refl. Defined.

Definition min x y : F := if le_dec x y then x else y.

Lemma min_l x y : min x y <= x.
Proof. unfold min; destruct (le_dec x y); [apply le_refl | now apply lt_le]. Qed.

Lemma min_r x y : min x y <= y.
Proof. unfold min; destruct (le_dec x y); [assumption | apply le_refl]. Qed.

Lemma min_glb x y z : z <= x -> z <= y -> z <= min x y.
Proof. unfold min; destruct (le_dec x y); auto. Qed.

Lemma min_gt0 x y : 0 < x -> 0 < y -> 0 < min x y.
Proof. unfold min; destruct (le_dec x y); auto. Qed.

(** ** Rationals in the field *)

Definition ofZ (z : Z) : F := gen_phiZ (zero : F) one add mul opp z.

Let Rsth := Eqsth F.
Let Rext := Eq_ext (add : F -> _) mul opp.
Let morph := gen_phiZ_morph Rsth Rext (F_R (field_ok F)).

Lemma ofZ_add a b : ofZ (a + b) = ofZ a + ofZ b.
Proof. apply (morph_add morph). Qed.

Lemma ofZ_mul a b : ofZ (a * b) = ofZ a * ofZ b.
Proof. apply (morph_mul morph). Qed.

Lemma ofZ_opp a : ofZ (- a) = - ofZ a.
Proof. apply (morph_opp morph). Qed.

Lemma ofZ_pos p : 0 < ofZ (Zpos p).
Proof. induction p using Pos.peano_ind.
  - apply one_gt0.
  - rewrite Pos2Z.inj_succ; unfold Z.succ; rewrite ofZ_add.
    apply add_gt0; [assumption | apply one_ge0]. Qed.

Lemma ofZ_ge0 a : (0 <= a)%Z -> 0 <= ofZ a.
Proof. destruct a; intro H; [apply le_refl | apply lt_le, ofZ_pos | lia]. Qed.

Definition ofQ (q : Q) : F := ofZ (Qnum q) / ofZ (Zpos (Qden q)).

Let den (q : Q) := ofZ (Zpos (Qden q)).
Lemma den_neq q : ofZ (Zpos (Qden q)) <> 0.
Proof. apply lt_neq, ofZ_pos. Qed.

Lemma ofQ_le p q : (p <= q)%Q -> ofQ p <= ofQ q.
Proof. unfold Qle; intro H.
  assert (K : 0 <= ofZ (Qnum q) * ofZ (Zpos (Qden p)) - ofZ (Qnum p) * ofZ (Zpos (Qden q))).
  { rewrite <- !ofZ_mul. apply sub_ge0.
    apply le_by with (ofZ (Qnum q * Zpos (Qden p) - Qnum p * Zpos (Qden q))).
    - unfold Z.sub; rewrite ofZ_add, ofZ_opp; ring.
    - apply ofZ_ge0; lia. }
  apply le_by with ((ofZ (Qnum q) * ofZ (Zpos (Qden p)) - ofZ (Qnum p) * ofZ (Zpos (Qden q)))
     * (inv (ofZ (Zpos (Qden p))) * inv (ofZ (Zpos (Qden q))))).
  - unfold ofQ; field; split; apply den_neq.
  - apply le_mul; [exact K |]. apply le_mul; apply lt_le, inv_gt0, ofZ_pos. Qed.

Lemma ofQ_eq p q : (p == q)%Q -> ofQ p = ofQ q.
Proof. intro H; apply le_antisym; apply ofQ_le; rewrite H; apply Qle_refl. Qed.

Lemma ofQ_add p q : ofQ (p + q) = ofQ p + ofQ q.
Proof. destruct p as [a b], q as [c d]; unfold ofQ, Qplus; cbn [Qnum Qden].
  rewrite ofZ_add, Pos2Z.inj_mul, !ofZ_mul. field; split; apply lt_neq, ofZ_pos. Qed.

Lemma ofQ_mul p q : ofQ (p * q) = ofQ p * ofQ q.
Proof. destruct p as [a b], q as [c d]; unfold ofQ, Qmult; cbn [Qnum Qden].
  rewrite Pos2Z.inj_mul, !ofZ_mul. field; split; apply lt_neq, ofZ_pos. Qed.

Lemma ofQ_opp p : ofQ (- p) = - ofQ p.
Proof. unfold ofQ, Qopp; simpl. rewrite ofZ_opp. field; apply den_neq. Qed.

Lemma ofQ_sub p q : ofQ (p - q) = ofQ p - ofQ q.
Proof. unfold Qminus; rewrite ofQ_add, ofQ_opp; ring. Qed.

Lemma ofQ_0 : ofQ 0 = 0.
Proof. unfold ofQ; simpl. change (ofZ 0) with (0 : F). field. apply lt_neq, one_gt0. Qed.

Lemma ofQ_1 : ofQ 1 = 1.
Proof. unfold ofQ; simpl. field. apply lt_neq, one_gt0. Qed.

Lemma ofQ_ge0 p : (0 <= p)%Q -> 0 <= ofQ p.
Proof. intro H; rewrite <- ofQ_0; now apply ofQ_le. Qed.

Lemma ofQ_gt0 p : (0 < p)%Q -> 0 < ofQ p.
Proof. unfold Qlt; simpl; intro H. unfold ofQ.
  replace (ofZ (Qnum p) / ofZ (Zpos (Qden p))) with (ofZ (Qnum p) * inv (ofZ (Zpos (Qden p)))) by (field; apply den_neq).
  apply mul_gt0; [| apply inv_gt0, ofZ_pos]. destruct (Qnum p) eqn:E; try lia. apply ofZ_pos. Qed.

Lemma ofQ_lt p q : (p < q)%Q -> ofQ p < ofQ q.
Proof. intro H. apply lt_by with (ofQ (q - p)); [rewrite ofQ_sub; ring |].
  apply ofQ_gt0. now apply Qlt_minus_iff in H. Qed.

Lemma ofQ_inj p q : ofQ p = ofQ q -> (p == q)%Q.
Proof. intro E. destruct (Q_dec p q) as [[H | H] | H]; [| | assumption];
  apply (@ofQ_lt) in H; exfalso; apply H; rewrite E; apply le_refl. Qed.

End Order.

Arguments ofQ {_}.
Arguments min {_}.

(** There are ordered fields: the rationals are one. *)
Definition Qc_field : OrderedField.
Proof.
  refine {| carrier := Qc; zero := 0%Qc; one := 1%Qc; add := Qcplus; mul := Qcmult; sub := Qcminus; opp := Qcopp;
            div := Qcdiv; inv := Qcinv; le := Qcle; field_ok := Qcft |}.
  - intros x y; destruct (Qclt_le_dec y x) as [H | H]; [right; now apply Qclt_not_le | now left].
  - intros x y; destruct (Qclt_le_dec y x) as [H | H]; [right; now apply Qclt_le_weak | now left].
  - apply Qcle_antisym.
  - apply Qcle_trans.
  - intros x y z H; apply Qcplus_le_compat; [assumption | apply Qcle_refl].
  - intros x y H K. replace 0%Qc with (0 * y)%Qc by ring. now apply Qcmult_le_compat_r.
Defined.

Arguments Qred : simpl never.
Arguments Qplus : simpl never.
Arguments Qmult : simpl never.
Arguments Qminus : simpl never.
Arguments Qopp : simpl never.

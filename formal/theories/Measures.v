(** * The measures of docs/leakage.md: functions of masses, and rationals that enclose them

    The best guess (tv, bayes, min-entropy, g), powers (chi2, renyi), x ln(x/y) (kl) and - sqrt(x y) (hellinger). Logarithms and
    roots are any functions with the laws of [logarithm] and [root]. *)

From Coq Require Import ZArith QArith Qpower List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Leakage Steps.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition enclosure := (Q * Q)%type.

(** What a checker computes of a measure. *)
Record computed := {
  is_signed : bool;
  is_together : bool;
  rows_needed : list nat;
  infinite : list Q -> bool;
  bounds : list Q -> option enclosure;  (* None for infinity *)
  along : list Q -> enclosure * enclosure  (* factor and shift where rows are scaled *)
}.

Definition between (F : OrderedField) (e : enclosure) (x : F) : Prop := le (ofQ (fst e)) x /\ le x (ofQ (snd e)).

Record encloses (F : OrderedField) (mu : measure F) (c : computed) : Prop := {
  same_signed : signed mu = is_signed c;
  same_together : together mu = is_together c;
  same_needed : needed mu = rows_needed c;
  infinite_ok : forall l, infinite c l = true -> bounds c l = None /\ length l = 2%nat /\ together mu = false;
  bounds_ok : forall l, in_domain mu (map (fun q => ofQ q) l) -> match bounds c l with
    | Some e => exists v, phi mu (map (fun q => ofQ q) l) = Some v /\ between e v
    | None => phi mu (map (fun q => ofQ q) l) = None
    end;
  along_ok : forall xs, scales_ok mu xs -> between (fst (along c xs)) (scale_factor mu xs) /\ between (snd (along c xs)) (scale_shift mu xs)
}.

Lemma between_exactly (F : OrderedField) q (x : F) : x = ofQ q -> between (q, q) x.
Proof. intros ->; split; apply le_refl. Qed.

(** ** The best of several guesses *)
Definition bestQ (l : list Q) : Q := fold_right larger_of 0%Q l.

Lemma bestQ_ge0 l : (0 <= bestQ l)%Q.
Proof. induction l as [| x l IH]; simpl; [apply Qle_refl | apply Qle_trans with (1 := IH), larger_of_r]. Qed.

Section Best.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

Definition larger (x y : F) : F := if le_dec x y then y else x.
Definition best (l : list F) : F := fold_right larger 0 l.

Lemma larger_l x y : x <= larger x y.
Proof. unfold larger; destruct (le_dec x y); [assumption | apply le_refl]. Qed.

Lemma larger_r x y : y <= larger x y.
Proof. unfold larger; destruct (le_dec x y) as [H | H]; [apply le_refl | now apply lt_le]. Qed.

Lemma larger_lub x y z : x <= z -> y <= z -> larger x y <= z.
Proof. unfold larger; destruct (le_dec x y); auto. Qed.

Lemma best_ge0 l : 0 <= best l.
Proof. induction l as [| x l IH]; simpl; [apply le_refl | apply le_trans with (1 := IH), larger_r]. Qed.

Lemma best_ge x l : In x l -> x <= best l.
Proof. induction l as [| y l IH]; simpl; intro I; [easy |]. destruct I as [-> | I]; [apply larger_l |].
  apply le_trans with (2 := larger_r _ _); auto. Qed.

Lemma best_lub l z : 0 <= z -> (forall x, In x l -> x <= z) -> best l <= z.
Proof. induction l as [| x l IH]; simpl; intros H K; [assumption |]. apply larger_lub; auto. Qed.

Lemma best_mul (c : F) l : 0 <= c -> best (map (mul c) l) = c * best l.
Proof.
  intro H. induction l as [| y l IH]; simpl; [ring |]. rewrite IH. unfold larger.
  destruct (le_dec (c * y) (c * best l)) as [A | A]; destruct (le_dec y (best l)) as [B | B]; try reflexivity.
  - apply le_antisym; [apply le_scale; [assumption | now apply lt_le] | assumption].
  - exfalso; apply A. now apply le_scale.
Qed.

Definition best_measure : measure F := {|
  phi := fun l => Some (best l); signed := true; together := true; needed := [];
  scale_factor := fun xs => ofQ (hd 1%Q xs); scale_shift := fun _ => 0 |}.

Lemma best_lawful : lawful best_measure.
Proof.
  constructor; simpl.
  - intros l H. f_equal. apply le_antisym; [apply best_lub; [apply le_refl |] | apply best_ge0].
    intros x I. rewrite (H x I). apply le_refl.
  - easy.
  - intros A L f g _ _. apply best_lub; [apply add_ge0; apply best_ge0 |]. intros x I. apply in_map_iff in I; destruct I as (a & <- & I).
    apply le_add2; apply best_ge; now apply in_map.
  - intros c l Hc _. f_equal. apply best_mul. now apply lt_le.
  - intros A L f [P E] _. specialize (E eq_refl). f_equal. destruct L as [| p L]; simpl; [ring |].
    assert (Ep : 0 <= (ofQ (fst p) : F)) by (apply ofQ_ge0, Qlt_le_weak, P; now left).
    transitivity (best (map (mul (ofQ (fst p))) (map (fun p => f (snd p)) (p :: L)))).
    + change (best (map (fun q => ofQ (fst q) * f (snd q)) (p :: L)) = best (map (mul (ofQ (fst p))) (map (fun p => f (snd p)) (p :: L)))).
      f_equal. rewrite map_map. apply (map_ext_in (fun q : Q * A => ofQ (fst q) * f (snd q)) (fun q => ofQ (fst p) * f (snd q)) (p :: L)).
      intros q I. rewrite (E (fst q) (fst p)); [reflexivity | now apply in_map | now left].
    + rewrite best_mul by assumption. simpl. ring.
  - intros [| x xs] [P _]; simpl; [rewrite ofQ_1; apply one_gt0 | apply ofQ_gt0, P; now left].
Qed.

Lemma larger_ofQ x y : ofQ (larger_of x y) = larger (ofQ x) (ofQ y).
Proof. unfold larger, larger_of. destruct (Qle_bool x y) eqn:E.
  - apply Qle_bool_iff, (@ofQ_le F) in E. destruct (le_dec _ _); [reflexivity | contradiction].
  - destruct (le_dec (ofQ x) (ofQ y)) as [H |]; [| reflexivity]. exfalso.
    assert (K : (y < x)%Q) by (apply Qnot_le_lt; intro N; apply Qle_bool_iff in N; congruence).
    now apply (@ofQ_lt F) in K. Qed.

Lemma best_map l : ofQ (bestQ l) = best (map (fun q => ofQ q) l).
Proof. induction l as [| q l IH]; simpl; [apply ofQ_0 | now rewrite <- IH, larger_ofQ]. Qed.

Definition exactly (q : Q) : enclosure := (q, q).

Definition best_computed : computed := {|
  is_signed := true; is_together := true; rows_needed := []; infinite := fun _ => false;
  bounds := fun l => Some (exactly (bestQ l)); along := fun xs => (exactly (hd 1%Q xs), exactly 0%Q) |}.

Lemma best_encloses : encloses best_measure best_computed.
Proof.
  constructor; simpl; try easy.
  - intros l _. exists (best (map (fun q => ofQ q) l)). split; [reflexivity |]. apply between_exactly. symmetry; apply best_map.
  - intros xs _. split; apply between_exactly; [reflexivity | symmetry; apply ofQ_0].
Qed.
End Best.

(** ** x h(x/y), where t h(t) is convex *)
Record ratio_function (F : OrderedField) := {
  h : F -> F;
  rate : F -> F;  (* h(a t) = rate(a) h(t) + more(a) *)
  more : F -> F
}.

Section Ratio.
Variable F : OrderedField.
Add Field F_field' : (field_ok F).
Local Open Scope field_scope.
Variable R : ratio_function F.

Definition of_ratio (x y : F) : option F := if eq_dec x 0 then Some 0 else if eq_dec y 0 then None else Some (x * h R (x / y)).

Record convex : Prop := {
  tangent : forall r, 0 < r -> exists p q, 0 <= q /\ p * r - q = r * h R r /\ forall t, 0 < t -> p * t - q <= t * h R t;
  h_along : forall a t, 0 < a -> 0 < t -> h R (a * t) = rate R a * h R t + more R a;
  rate_gt0 : forall a, 0 < a -> 0 < rate R a
}.

Definition ratio_measure : measure F := {|
  phi := fun l => match l with [x; y] => of_ratio x y | _ => Some 0 end;
  signed := false; together := false; needed := [0%nat];
  scale_factor := fun xs => match xs with [l; m] => ofQ l * rate R (ofQ l / ofQ m) | _ => 1 end;
  scale_shift := fun xs => match xs with [l; m] => ofQ l * more R (ofQ l / ofQ m) | _ => 0 end |}.

Hypothesis R_ok : convex.

Lemma pos_of (x : F) : 0 <= x -> x <> 0 -> 0 < x.
Proof. intros H N K. apply N. now apply le_antisym. Qed.

Lemma div_gt0 (x y : F) : 0 < x -> 0 < y -> 0 < x / y.
Proof. intros X Y. replace (x / y) with (x * inv y) by (field; now apply lt_neq). apply mul_gt0; [assumption | now apply inv_gt0]. Qed.

Lemma above_tangent p q x y : 0 <= q -> (forall t, 0 < t -> p * t - q <= t * h R t) -> 0 <= x -> 0 <= y ->
  leq (Some (p * x - q * y)) (of_ratio x y).
Proof.
  intros Q0 T X Y. unfold of_ratio. destruct (eq_dec x 0) as [-> | Nx]; [| destruct (eq_dec y 0) as [-> | Ny]; [exact I |]]; simpl.
  - apply le_by with (q * y); [ring | now apply le_mul].
  - pose proof (pos_of X Nx) as Xp. pose proof (pos_of Y Ny) as Yp. specialize (T (x / y) (div_gt0 Xp Yp)).
    apply le_by with (y * (x / y * h R (x / y) - (p * (x / y) - q))); [field; assumption |].
    apply le_mul; [assumption | now apply sub_ge0].
Qed.

Lemma ratio_add x y x' y' : 0 <= x -> 0 <= y -> 0 <= x' -> 0 <= y' ->
  leq (of_ratio (x + x') (y + y')) (plus (of_ratio x y) (of_ratio x' y')).
Proof.
  intros X Y X' Y'. unfold of_ratio at 1. destruct (eq_dec (x + x') 0) as [E | Nx].
  - assert (Z : forall u v : F, 0 <= u -> 0 <= v -> u + v = 0 -> u = 0).
    { intros u v U V W. apply le_antisym; [| assumption]. rewrite <- W. apply le_by with v; [ring | assumption]. }
    assert (x = 0) by now apply (Z x x'). assert (x' = 0) by (apply (Z x' x); auto; rewrite <- E; ring). subst.
    unfold of_ratio. destruct (eq_dec (0 : F) 0) as [_ | N]; [| now contradiction N]. simpl. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct (eq_dec (y + y') 0) as [E | Ny].
    + assert (Z : forall u v : F, 0 <= u -> 0 <= v -> u + v = 0 -> u = 0).
      { intros u v U V W. apply le_antisym; [| assumption]. rewrite <- W. apply le_by with v; [ring | assumption]. }
      assert (y = 0) by now apply (Z y y'). assert (y' = 0) by (apply (Z y' y); auto; rewrite <- E; ring). subst.
      unfold of_ratio. destruct (eq_dec x 0) as [-> | N], (eq_dec x' 0) as [-> | N'], (eq_dec (0 : F) 0) as [_ | N0]; simpl; try easy.
    + assert (Xp : 0 < x + x') by (apply pos_of; [now apply add_ge0 | assumption]).
      assert (Yp : 0 < y + y') by (apply pos_of; [now apply add_ge0 | assumption]).
      destruct (tangent R_ok (div_gt0 Xp Yp)) as (p & q & Q0 & E & T).
      apply leq_trans with (plus (Some (p * x - q * y)) (Some (p * x' - q * y'))).
      * simpl. apply le_by with ((y + y') * (p * ((x + x') / (y + y')) - q - (x + x') / (y + y') * h R ((x + x') / (y + y')))).
        -- field; assumption.
        -- rewrite E. apply le_by with (0 : F); [ring | apply le_refl].
      * apply plus_leq; now apply above_tangent.
Qed.

Lemma ratio_scaled (l m : F) x y : 0 < l -> 0 < m -> 0 <= x -> 0 <= y ->
  of_ratio (l * x) (m * y) = plus (times (l * rate R (l / m)) (of_ratio x y)) (Some (l * more R (l / m) * x)).
Proof.
  intros L M X Y. unfold of_ratio. destruct (eq_dec x 0) as [-> | Nx].
  - destruct (eq_dec (l * 0) 0) as [_ | N]; [| exfalso; apply N; ring]. simpl. f_equal; ring.
  - destruct (eq_dec (l * x) 0) as [E | _].
    { exfalso. apply (mul_gt0 L (pos_of X Nx)). rewrite E. apply le_refl. }
    destruct (eq_dec y 0) as [-> | Ny].
    + destruct (eq_dec (m * 0) 0) as [_ | N]; [reflexivity | exfalso; apply N; ring].
    + destruct (eq_dec (m * y) 0) as [E | _].
      { exfalso. apply (mul_gt0 M (pos_of Y Ny)). rewrite E. apply le_refl. }
      simpl. f_equal. replace (l * x / (m * y)) with (l / m * (x / y)) by (field; split; [assumption | now apply lt_neq]).
      rewrite (h_along R_ok) by (apply div_gt0; auto using pos_of). ring.
Qed.

Lemma ratio_lawful : lawful ratio_measure.
Proof.
  assert (Z0 : forall y, of_ratio 0 y = Some 0) by (intro y; unfold of_ratio; destruct (eq_dec (0 : F) 0) as [_ | N]; [reflexivity | now contradiction N]).
  assert (Dom : forall (A : Type) (L : list A) f, in_domain ratio_measure (map f L) -> forall a, In a L -> 0 <= f a).
  { intros A L f [H | H] a I; [easy | apply H; now apply in_map]. }
  constructor.
  - intros [| x [| y [| z l]]] H; try reflexivity. simpl. rewrite (H x) by now left. apply Z0.
  - intros [| x [| y [| z l]]] k [<- | []] H; try reflexivity. simpl in *. subst. apply Z0.
  - intros A L f g Df Dg. pose proof (Dom A L f Df) as Pf. pose proof (Dom A L g Dg) as Pg.
    destruct L as [| a [| b [| c L]]]; simpl in *; try (apply le_by with (0 : F); [ring | apply le_refl]).
    apply ratio_add; auto.
  - intros c l Hc D. assert (P : forall x, In x l -> 0 <= x) by (destruct D as [D | D]; [easy | exact D]).
    destruct l as [| x [| y [| z l]]]; simpl; try (f_equal; ring). unfold of_ratio.
    destruct (eq_dec x 0) as [-> | Nx].
    { destruct (eq_dec (c * 0) 0) as [_ | N]; [simpl; f_equal; ring | exfalso; apply N; ring]. }
    destruct (eq_dec (c * x) 0) as [E | _].
    { exfalso. apply (mul_gt0 Hc (pos_of (P x (or_introl eq_refl)) Nx)). rewrite E. apply le_refl. }
    destruct (eq_dec y 0) as [-> | Ny].
    { destruct (eq_dec (c * 0) 0) as [_ | N]; [reflexivity | exfalso; apply N; ring]. }
    destruct (eq_dec (c * y) 0) as [E | _].
    { exfalso. apply (mul_gt0 Hc (pos_of (P y (or_intror (or_introl eq_refl))) Ny)). rewrite E. apply le_refl. }
    simpl. f_equal. replace (c * x / (c * y)) with (x / y) by (field; split; [assumption | now apply lt_neq]). ring.
  - intros A L f [X _] D. pose proof (Dom _ L (fun p => f (snd p)) D) as P.
    destruct L as [| a [| b [| c L]]]; simpl in *; try (f_equal; ring).
    rewrite ratio_scaled; auto; apply ofQ_gt0; auto.
  - intros xs [X _]. destruct xs as [| l [| m [| n xs]]]; simpl; try apply one_gt0.
    assert (L : 0 < (ofQ l : F)) by (apply ofQ_gt0, X; now left). assert (M : 0 < (ofQ m : F)) by (apply ofQ_gt0, X; right; now left).
    apply mul_gt0; [assumption |]. apply (rate_gt0 R_ok). now apply div_gt0.
Qed.

End Ratio.

Definition stretched (q : Q) (e : enclosure) : enclosure := (Qred (q * fst e), Qred (q * snd e)).

Definition ratio_computed (h_at rate_at more_at : Q -> enclosure) : computed := {|
  is_signed := false; is_together := false; rows_needed := [0%nat];
  infinite := fun l => match l with [x; y] => negb (Qeq_bool x 0) && Qeq_bool y 0 | _ => false end;
  bounds := fun l => match l with
    | [x; y] => if Qeq_bool x 0 then Some (exactly 0%Q) else if Qeq_bool y 0 then None else Some (stretched x (h_at (Qred (x / y))))
    | _ => Some (exactly 0%Q)
    end;
  along := fun xs => match xs with
    | [l; m] => let a := Qred (l / m) in (stretched l (rate_at a), stretched l (more_at a))
    | _ => (exactly 1%Q, exactly 0%Q)
    end |}.

Section RatioComputed.
Variable F : OrderedField.
Add Field F_field'' : (field_ok F).
Local Open Scope field_scope.

Lemma stretched_ok q e (x : F) : (0 <= q)%Q -> between e x -> between (stretched q e) (ofQ q * x).
Proof. intros H [A B]. apply (@ofQ_ge0 F) in H. split; simpl; rewrite (ofQ_eq F (Qred_correct _)), ofQ_mul; now apply le_scale. Qed.

Lemma ofQ_zero q : Qeq_bool q 0 = false -> ofQ q <> (0 : F).
Proof. intros E H. rewrite <- ofQ_0 in H. apply ofQ_inj, Qeq_bool_iff in H. congruence. Qed.

Lemma ofQ_div (p q : Q) : (0 < q)%Q -> ofQ (Qred (p / q)) = ofQ p / (ofQ q : F).
Proof. intro H. rewrite (ofQ_eq F (Qred_correct _)).
  assert (N : ofQ q <> (0 : F)) by now apply lt_neq, ofQ_gt0.
  assert (E : ofQ (p / q) * ofQ q = ofQ p :> F) by (rewrite <- ofQ_mul; apply ofQ_eq; field; intro Z; rewrite Z in H; now apply Qlt_irrefl in H).
  rewrite <- E. field; assumption. Qed.

Theorem ratio_encloses (R : ratio_function F) h_at rate_at more_at :
  (forall q, (0 < q)%Q -> between (h_at q) (h R (ofQ q))) -> (forall q, (0 < q)%Q -> between (rate_at q) (rate R (ofQ q))) ->
  (forall q, (0 < q)%Q -> between (more_at q) (more R (ofQ q))) ->
  encloses (ratio_measure R) (ratio_computed h_at rate_at more_at).
Proof.
  intros H1 H2 H3. constructor; try reflexivity.
  - intros [| x [| y [| z l]]] H; simpl in *; try easy. now destruct (Qeq_bool x 0), (Qeq_bool y 0).
  - intros l D. destruct l as [| x [| y [| z l]]]; simpl; try (exists 0; split; [reflexivity | apply between_exactly; now rewrite ofQ_0]).
    assert (P : 0 <= (ofQ x : F) /\ 0 <= (ofQ y : F)).
    { destruct D as [D | D]; [easy |]. split; apply D; simpl; auto. }
    unfold of_ratio. destruct (Qeq_bool x 0) eqn:Ex.
    { apply Qeq_bool_iff in Ex. rewrite (ofQ_eq F Ex), ofQ_0. destruct (eq_dec (0 : F) 0) as [_ | N]; [| now contradiction N].
      exists 0; split; [reflexivity | apply between_exactly; now rewrite ofQ_0]. }
    destruct (eq_dec (ofQ x) 0) as [E | Nx]; [now apply ofQ_zero in Ex |].
    destruct (Qeq_bool y 0) eqn:Ey.
    { apply Qeq_bool_iff in Ey. rewrite (ofQ_eq F Ey), ofQ_0. destruct (eq_dec (0 : F) 0) as [_ | N]; [reflexivity | now contradiction N]. }
    destruct (eq_dec (ofQ y) 0) as [E | Ny]; [now apply ofQ_zero in Ey |].
    assert (Pos : forall q, ofQ q <> (0 : F) -> 0 <= (ofQ q : F) -> (0 < q)%Q).
    { intros q N G. apply Qnot_le_lt. intro K. apply (@ofQ_le F) in K. rewrite ofQ_0 in K. apply N. now apply le_antisym. }
    assert (X : (0 < x)%Q) by (now apply Pos). assert (Y : (0 < y)%Q) by (now apply Pos).
    eexists; split; [reflexivity |]. apply stretched_ok; [now apply Qlt_le_weak |].
    rewrite <- ofQ_div by assumption. apply H1. rewrite Qred_correct. now apply Qlt_shift_div_l; rewrite ?Qmult_0_l.
  - intros xs [X _]. destruct xs as [| l [| m [| n xs]]]; simpl; try (split; apply between_exactly; symmetry; [apply ofQ_1 | apply ofQ_0]).
    assert (L : (0 < l)%Q) by (apply X; now left). assert (M : (0 < m)%Q) by (apply X; right; now left).
    assert (A : (0 < Qred (l / m))%Q) by (rewrite Qred_correct; now apply Qlt_shift_div_l; rewrite ?Qmult_0_l).
    rewrite <- (ofQ_div l M). split; apply stretched_ok; auto using Qlt_le_weak.
Qed.
End RatioComputed.

(** ** Powers: x^b y^(1-b) *)
Section Power.
Variable F : OrderedField.
Add Field F_power : (field_ok F).
Local Open Scope field_scope.

Fixpoint pow (x : F) (n : nat) : F := match n with O => 1 | S n' => x * pow x n' end.

Lemma pow_gt0 x n : 0 < x -> 0 < pow x n.
Proof. intro H; induction n as [| n IH]; simpl; [apply one_gt0 | now apply mul_gt0]. Qed.

Lemma pow_mul x y n : pow (x * y) n = pow x n * pow y n.
Proof. induction n as [| n IH]; simpl; [| rewrite IH]; ring. Qed.

Fixpoint times_one (n : nat) : F := match n with O => 1 | S n' => times_one n' + 1 end.

Lemma times_one_ge1 n : 1 <= times_one n.
Proof. induction n as [| n IH]; simpl; [apply le_refl |]. apply le_trans with (1 := IH). apply le_by with (1 : F); [ring | apply one_ge0]. Qed.

Lemma bernoulli n r t : 0 < r -> 0 < t -> times_one n * pow r n * (t - r) <= pow t (S n) - pow r (S n).
Proof.
  intros R T. induction n as [| n IH]; [simpl; apply le_by with (0 : F); [ring | apply le_refl] |].
  apply le_by with (t * (pow t (S n) - pow r (S n) - times_one n * pow r n * (t - r)) + times_one n * pow r n * ((t - r) * (t - r))).
  - simpl; ring.
  - apply add_ge0.
    + apply le_mul; [now apply lt_le |]. now apply sub_ge0.
    + apply le_mul; [apply le_mul; [apply le_trans with 1; [apply one_ge0 | apply times_one_ge1] | now apply lt_le, pow_gt0] |].
      destruct (le_total 0 (t - r)) as [H | H]; [now apply le_mul |].
      apply le_by with ((0 - (t - r)) * (0 - (t - r))); [ring | apply le_mul; now apply sub_ge0].
Qed.

(** [m] is the order less one. *)
Definition power_function (m : positive) : ratio_function F :=
  {| h := fun t => pow t (Pos.to_nat m); rate := fun a => pow a (Pos.to_nat m); more := fun _ => 0 |}.

Lemma power_convex m : convex (power_function m).
Proof.
  constructor; simpl.
  - set (n := Pos.to_nat m). intros r R. exists (times_one n * pow r n), (times_one n * pow r n * r - r * pow r n). split; [| split; [ring |]].
    + apply le_by with ((times_one n - 1) * (r * pow r n)); [ring |].
      apply le_mul; [apply sub_ge0, times_one_ge1 | apply le_mul; apply lt_le; [assumption | now apply pow_gt0]].
    + intros t T. pose proof (bernoulli n R T) as B. simpl in B.
      apply le_by with (t * pow t n - r * pow r n - times_one n * pow r n * (t - r)); [ring | now apply sub_ge0].
  - intros a t _ _. rewrite pow_mul. ring.
  - intros a A. now apply pow_gt0.
Qed.

Lemma power_ofQ q m : ofQ (Qpower_positive q m) = pow (ofQ q) (Pos.to_nat m).
Proof.
  induction m as [| m IH] using Pos.peano_ind; [simpl; ring |].
  rewrite Pos2Nat.inj_succ. simpl. rewrite <- IH, <- ofQ_mul. apply ofQ_eq.
  rewrite <- Pos.add_1_l. rewrite Qpower_plus_positive. reflexivity.
Qed.

Definition power_at (m : positive) (q : Q) : enclosure := exactly (Qpower_positive q m).

Definition power_computed (m : positive) : computed := ratio_computed (power_at m) (power_at m) (fun _ => exactly 0%Q).

Lemma power_encloses m : encloses (ratio_measure (power_function m)) (power_computed m).
Proof. apply ratio_encloses; intros q _; apply between_exactly; simpl; [| | symmetry; apply ofQ_0]; symmetry; apply power_ofQ. Qed.
End Power.

(** ** Integers near a root: [guess] finds them, and is not trusted *)
Section Roots.
Variable guess : Z -> Z.
Local Open Scope Z_scope.

Definition root_up (v : Z) : Z :=
  let r := guess v in
  if (0 <=? r) && (v <=? r * r) then r else let r' := r + 1 in if (0 <=? r') && (v <=? r' * r') then r' else v + 1.

Definition root_down (least v : Z) : Z := let r := guess v in if (least <=? r) && (r * r <=? v) then r else least.

Lemma root_up_ok v : 0 <= v -> 0 <= root_up v /\ v <= root_up v * root_up v.
Proof.
  intro H. unfold root_up. cbv zeta. set (r := guess v).
  destruct ((0 <=? r) && (v <=? r * r)) eqn:E; [rewrite andb_true_iff, !Z.leb_le in E; exact E |].
  destruct ((0 <=? r + 1) && (v <=? (r + 1) * (r + 1))) eqn:E'; [rewrite andb_true_iff, !Z.leb_le in E'; exact E' | nia].
Qed.

Lemma root_down_ok least v : 0 <= least -> least * least <= v -> least <= root_down least v /\ root_down least v * root_down least v <= v.
Proof.
  intros L H. unfold root_down. cbv zeta. set (r := guess v).
  destruct ((least <=? r) && (r * r <=? v)) eqn:E; [rewrite andb_true_iff, !Z.leb_le in E; exact E | lia].
Qed.

Fixpoint twice (n : nat) (z : Z) : Z := match n with O => z | S n' => 2 * twice n' z end.

Lemma twice_gt0 n z : 0 < z -> 0 < twice n z.
Proof. intro H; induction n as [| n IH]; cbn [twice]; lia. Qed.

Local Open Scope Q_scope.

(** The root of a rational number, to 320 binary places. *)
Definition root_unit : Z := twice (Pos.to_nat 320) 1.
Definition root_at (q : Q) : enclosure :=
  let d := (Zpos (Qden q) * root_unit)%Z in
  let v := (Qnum q * Zpos (Qden q) * (root_unit * root_unit))%Z in
  (Qmake (root_down 0 v) (Z.to_pos d), Qmake (root_up v) (Z.to_pos d)).

Lemma root_at_ok q : 0 <= q -> let '(lo, up) := root_at q in 0 <= lo /\ lo * lo <= q /\ 0 <= up /\ q <= up * up.
Proof.
  intro H. assert (U : (0 < root_unit)%Z) by (apply twice_gt0; lia). destruct q as [n d]. unfold Qle in H; simpl in H.
  unfold root_at; cbn [Qnum Qden]. generalize dependent root_unit; intros u U.
  set (v := (n * Zpos d * (u * u))%Z). assert (V : (0 <= v)%Z) by (unfold v; nia).
  destruct (root_up_ok V) as [A B]. destruct (@root_down_ok 0 v) as [A' B']; [lia | lia |].
  assert (D : Zpos (Z.to_pos (Zpos d * u)) = (Zpos d * u)%Z) by (apply Z2Pos.id; lia).
  unfold Qle, Qmult; cbn [Qnum Qden]. rewrite !Pos2Z.inj_mul, D. unfold v in *. repeat split; try lia.
  - apply (Z.mul_le_mono_nonneg_r _ _ (Zpos d)) in B'; [| lia]. lia.
  - apply (Z.mul_le_mono_nonneg_r _ _ (Zpos d)) in B; [| lia]. lia.
Qed.

(** The logarithm of a number: that of a root, twice. *)
Fixpoint log_up (unit : Z) (k : nat) (n : Z) : Q :=
  match k with O => Qmake (n - unit) (Z.to_pos unit) | S k' => (2 # 1) * log_up unit k' (root_up (n * unit)) end.
Fixpoint log_down (unit : Z) (k : nat) (n : Z) : Q :=
  match k with O => Qmake (n - unit) (Z.to_pos n) | S k' => (2 # 1) * log_down unit k' (root_down unit (n * unit)) end.

Definition log_above (q : Q) : enclosure :=  (* of a number that is at least 1; the nearer to 1, the fewer roots *)
  let d := Zpos (Qden q) in
  let near := (Pos.size_nat (Qden q) - Pos.size_nat (Z.to_pos (Qnum q - d)))%nat in
  let unit := twice (Pos.to_nat 700 + near) 1 in
  let k := (Pos.to_nat 340 - near)%nat in
  let n := (Qnum q * unit)%Z in
  (Qred (log_down unit k (n / d)), Qred (log_up unit k (n / d + 1))).

Definition log_proved (q : Q) : enclosure :=
  if Qeq_bool q 1 then exactly 0
  else if Qle_bool 1 q then log_above q
  else let e := log_above (/ q) in (- snd e, - fst e).
End Roots.

(** Guesses that are not trusted: integers near roots, and enclosures of logarithms, which are taken if they are wider than what is proved. *)
Record guesses := { near_root : Z -> Z; near_log : Q -> enclosure }.

Definition log_at (g : guesses) (q : Q) : enclosure :=
  let proved := log_proved (near_root g) q in
  let guessed := near_log g q in
  if Qle_bool (fst guessed) (fst proved) && Qle_bool (snd proved) (snd guessed) then guessed else proved.

(** ** Logarithms: x ln(x/y) *)
Record logarithm (F : OrderedField) := {
  ln : F -> F;
  ln_mul : forall x y : F, (0 < x -> 0 < y -> ln (x * y) = ln x + ln y)%F;
  ln_below : forall x : F, (0 < x -> ln x <= x - 1)%F
}.

Section Logarithm.
Variable F : OrderedField.
Add Field F_log : (field_ok F).
Local Open Scope field_scope.
Variable L : logarithm F.
Notation ln := (ln L).

Lemma ln_1 : ln 1 = 0.
Proof. pose proof (ln_mul L (one_gt0 (F := F)) (one_gt0 (F := F))) as H. replace (1 * 1 : F) with (1 : F) in H by ring.
  replace (ln 1) with (ln 1 + ln 1 - ln 1) by ring. rewrite <- H. ring. Qed.

Lemma ln_inv x : 0 < x -> ln (inv x) = - ln x.
Proof. intro H. assert (E : ln x + ln (inv x) = 0).
  { rewrite <- (ln_mul L H (inv_gt0 H)). replace (x * inv x) with (1 : F) by (field; now apply lt_neq). apply ln_1. }
  replace (ln (inv x)) with (ln x + ln (inv x) - ln x) by ring. rewrite E. ring. Qed.

Lemma ln_above x : 0 < x -> 1 - inv x <= ln x.
Proof. intro H. pose proof (ln_below L (inv_gt0 H)) as B. rewrite (ln_inv H) in B.
  apply le_by with (inv x - 1 - (- ln x)); [ring | now apply sub_ge0]. Qed.

Lemma ln_mono x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros X H. assert (Y : 0 < y) by now apply lt_le_trans with x.
  assert (Q0 : 0 < y * inv x) by (apply mul_gt0; [assumption | now apply inv_gt0]).
  assert (E : ln y = ln (y * inv x) + ln x).
  { rewrite <- (ln_mul L Q0 X). f_equal. field. now apply lt_neq. }
  rewrite E. apply le_by with (ln (y * inv x)); [ring |]. apply le_trans with (2 := ln_above Q0).
  apply le_by with ((y - x) * inv y).
  - field. split; now apply lt_neq.
  - apply le_mul; [now apply sub_ge0 | now apply lt_le, inv_gt0].
Qed.

Definition log_function : ratio_function F := {| h := ln; rate := fun _ => 1; more := ln |}.

Lemma log_convex : convex log_function.
Proof.
  constructor; simpl.
  - intros r R. exists (1 + ln r), r. split; [now apply lt_le | split; [ring |]]. intros t T.
    pose proof (ln_below L (mul_gt0 R (inv_gt0 T))) as B. rewrite (ln_mul L R (inv_gt0 T)), (ln_inv T) in B.
    apply le_by with (t * (r * inv t - 1 - (ln r + - ln t))); [field; now apply lt_neq |].
    apply le_mul; [now apply lt_le | now apply sub_ge0].
  - intros a t A T. rewrite (ln_mul L A T). ring.
  - intros a _. apply one_gt0.
Qed.

Variable guess : Z -> Z.
Lemma ofZ_le a b : (a <= b)%Z -> ofZ F a <= ofZ F b.
Proof. intro H. apply le_by with (ofZ F (b - a)); [unfold Z.sub; rewrite ofZ_add, ofZ_opp; ring | apply ofZ_ge0; lia]. Qed.

Lemma ofZ_gt0 a : (0 < a)%Z -> 0 < ofZ F a.
Proof. destruct a; try lia. intros _. apply ofZ_pos. Qed.

Section Unit.
Variable unit : Z.
Hypothesis unit_gt0 : (0 < unit)%Z.

(** [at_unit n]: the number that the integer stands for. *)
Definition at_unit (n : Z) : F := ofZ F n / ofZ F unit.

Lemma at_unit_gt0 n : (0 < n)%Z -> 0 < at_unit n.
Proof. intro H. unfold at_unit. apply div_gt0; now apply ofZ_gt0. Qed.

Lemma at_unit_square m n : (n * unit <= m * m)%Z -> at_unit n <= at_unit m * at_unit m.
Proof. intro H. apply ofZ_le in H. rewrite !ofZ_mul in H. pose proof (ofZ_gt0 unit_gt0) as U. unfold at_unit.
  apply le_by with ((ofZ F m * ofZ F m - ofZ F n * ofZ F unit) * (inv (ofZ F unit) * inv (ofZ F unit))).
  - field. now apply lt_neq.
  - apply le_mul; [now apply sub_ge0 | apply le_mul; now apply lt_le, inv_gt0]. Qed.

Lemma at_unit_square' m n : (m * m <= n * unit)%Z -> at_unit m * at_unit m <= at_unit n.
Proof. intro H. apply ofZ_le in H. rewrite !ofZ_mul in H. pose proof (ofZ_gt0 unit_gt0) as U. unfold at_unit.
  apply le_by with ((ofZ F n * ofZ F unit - ofZ F m * ofZ F m) * (inv (ofZ F unit) * inv (ofZ F unit))).
  - field. now apply lt_neq.
  - apply le_mul; [now apply sub_ge0 | apply le_mul; now apply lt_le, inv_gt0]. Qed.

Lemma two : ofQ (2 # 1) = 1 + 1 :> F.
Proof. assert (E : (2 # 1 == 1 + 1)%Q) by reflexivity. now rewrite (ofQ_eq F E), ofQ_add, ofQ_1. Qed.

Lemma log_up_ok k : forall n, (0 < n)%Z -> ln (at_unit n) <= ofQ (log_up guess unit k n).
Proof.
  induction k as [| k IH]; intros n N; cbn [log_up].
  - apply le_trans with (1 := ln_below L (at_unit_gt0 N)). unfold at_unit, ofQ; cbn [Qnum Qden]. rewrite Z2Pos.id by exact unit_gt0.
    unfold Z.sub. rewrite ofZ_add, ofZ_opp. pose proof (ofZ_gt0 unit_gt0). apply le_by with (0 : F); [field; now apply lt_neq | apply le_refl].
  - destruct (@root_up_ok guess (n * unit)) as [A B]; [pose proof unit_gt0; nia |].
    assert (M : (0 < root_up guess (n * unit))%Z) by (pose proof unit_gt0; nia).
    rewrite ofQ_mul, two. set (m := root_up guess (n * unit)) in *.
    apply le_trans with (ln (at_unit m * at_unit m)).
    + apply ln_mono; [now apply at_unit_gt0 | now apply at_unit_square].
    + rewrite (ln_mul L (at_unit_gt0 M) (at_unit_gt0 M)). specialize (IH m M).
      apply le_by with ((ofQ (log_up guess unit k m) - ln (at_unit m)) + (ofQ (log_up guess unit k m) - ln (at_unit m))); [ring | apply add_ge0; now apply sub_ge0].
Qed.

Lemma log_down_ok k : forall n, (unit <= n)%Z -> ofQ (log_down guess unit k n) <= ln (at_unit n).
Proof.
  pose proof unit_gt0 as U. induction k as [| k IH]; intros n N; cbn [log_down].
  - assert (N0 : (0 < n)%Z) by lia. apply le_trans with (2 := ln_above (at_unit_gt0 N0)). unfold at_unit, ofQ; cbn [Qnum Qden]. rewrite Z2Pos.id by exact N0.
    unfold Z.sub. rewrite ofZ_add, ofZ_opp. pose proof (ofZ_gt0 U). pose proof (ofZ_gt0 N0).
    apply le_by with (0 : F); [field; split; now apply lt_neq | apply le_refl].
  - destruct (@root_down_ok guess unit (n * unit)) as [A B]; [lia | nia |].
    rewrite ofQ_mul, two. set (m := root_down guess unit (n * unit)) in *. assert (M : (0 < m)%Z) by lia.
    apply le_trans with (ln (at_unit m * at_unit m)).
    + rewrite (ln_mul L (at_unit_gt0 M) (at_unit_gt0 M)). specialize (IH m A).
      apply le_by with ((ln (at_unit m) - ofQ (log_down guess unit k m)) + (ln (at_unit m) - ofQ (log_down guess unit k m))); [ring | apply add_ge0; now apply sub_ge0].
    + apply ln_mono; [apply mul_gt0; now apply at_unit_gt0 | now apply at_unit_square'].
Qed.

End Unit.

Lemma log_above_ok q : (1 <= q)%Q -> between (log_above guess q) (ln (ofQ q)).
Proof.
  intro H. destruct q as [n d]. unfold Qle in H; simpl in H. unfold log_above. cbn [Qnum Qden]. cbv zeta.
  set (near := (Pos.size_nat d - _)%nat). set (k := (Pos.to_nat 340 - near)%nat). set (unit := twice (Pos.to_nat 700 + near) 1).
  assert (U : (0 < unit)%Z) by (apply twice_gt0; reflexivity). clearbody unit k.
  assert (D : 0 < ofZ F (Zpos d)) by apply ofZ_pos. pose proof (ofZ_gt0 U) as Uf.
  set (e := (n * unit / Zpos d)%Z).
  assert (E1 : (e * Zpos d <= n * unit)%Z) by (unfold e; rewrite Z.mul_comm; apply Z.mul_div_le; lia).
  assert (E2 : (n * unit <= (e + 1) * Zpos d)%Z).
  { pose proof (Z.mul_succ_div_gt (n * unit) (Zpos d)) as K. fold e in K. lia. }
  assert (E0 : (unit <= e)%Z) by (unfold e; apply Z.div_le_lower_bound; nia).
  assert (Q0 : 0 < (ofQ (n # d) : F)) by (apply ofQ_gt0; unfold Qlt; simpl; lia).
  split; cbn [fst snd]; rewrite (ofQ_eq F (Qred_correct _)).
  - apply le_trans with (1 := log_down_ok U k E0). apply ln_mono; [apply (at_unit_gt0 U); lia |].
    apply ofZ_le in E1. rewrite !ofZ_mul in E1. unfold at_unit, ofQ; cbn [Qnum Qden].
    apply le_by with ((ofZ F n * ofZ F unit - ofZ F e * ofZ F (Zpos d)) * (inv (ofZ F unit) * inv (ofZ F (Zpos d)))).
    + field. split; now apply lt_neq.
    + apply le_mul; [now apply sub_ge0 | apply le_mul; now apply lt_le, inv_gt0].
  - apply le_trans with (ln (at_unit unit (e + 1))); [| apply (log_up_ok U); lia]. apply ln_mono; [assumption |].
    apply ofZ_le in E2. rewrite !ofZ_mul in E2. unfold at_unit, ofQ; cbn [Qnum Qden].
    apply le_by with ((ofZ F (e + 1) * ofZ F (Zpos d) - ofZ F n * ofZ F unit) * (inv (ofZ F unit) * inv (ofZ F (Zpos d)))).
    + field. split; now apply lt_neq.
    + apply le_mul; [now apply sub_ge0 | apply le_mul; now apply lt_le, inv_gt0].
Qed.

Lemma log_proved_ok q : (0 < q)%Q -> between (log_proved guess q) (ln (ofQ q)).
Proof.
  intro H. unfold log_proved. destruct (Qeq_bool q 1) eqn:E.
  - apply Qeq_bool_iff in E. apply between_exactly. now rewrite (ofQ_eq F E), ofQ_1, ofQ_0, ln_1.
  - destruct (Qle_bool 1 q) eqn:G; [apply Qle_bool_iff in G; now apply log_above_ok |].
    assert (K : (q < 1)%Q) by (apply Qnot_le_lt; intro K; apply Qle_bool_iff in K; congruence).
    assert (I1 : (1 <= / q)%Q) by (apply Qle_shift_inv_l; [assumption |]; rewrite Qmult_1_l; now apply Qlt_le_weak).
    destruct (log_above_ok I1) as [A B].
    assert (Ei : ofQ (/ q) = inv (ofQ q) :> F).
    { assert (N : ofQ q <> (0 : F)) by now apply lt_neq, ofQ_gt0.
      replace (ofQ (/ q)) with (ofQ (/ q) * ofQ q * inv (ofQ q) : F) by (field; assumption).
      rewrite <- ofQ_mul, (ofQ_eq F (q := 1%Q)), ofQ_1; [ring |]. rewrite Qmult_comm. apply Qmult_inv_r. intro Z. rewrite Z in H. now apply Qlt_irrefl in H. }
    rewrite Ei, (ln_inv (ofQ_gt0 (F := F) H)) in A, B. cbv zeta. split; cbn [fst snd]; rewrite ofQ_opp.
    + apply le_by with (ofQ (snd (log_above guess (/ q))) - - ln (ofQ q)); [ring | now apply sub_ge0].
    + apply le_by with (- ln (ofQ q) - ofQ (fst (log_above guess (/ q)))); [ring | now apply sub_ge0].
Qed.

End Logarithm.

Section LogComputed.
Variable F : OrderedField.
Variable L : logarithm F.
Variable g : guesses.

Lemma log_at_ok q : (0 < q)%Q -> between (log_at g q) (ln L (ofQ q)).
Proof.
  intro H. unfold log_at. cbv zeta. pose proof (log_proved_ok L (near_root g) H) as [A B]. destruct (_ && _) eqn:E; [| now split].
  rewrite andb_true_iff in E. destruct E as [E1 E2]. apply Qle_bool_iff, (@ofQ_le F) in E1, E2. split; [now apply le_trans with (1 := E1) | now apply le_trans with (2 := E2)].
Qed.

Definition log_computed : computed := ratio_computed (log_at g) (fun _ => exactly 1%Q) (log_at g).

Lemma log_encloses : encloses (ratio_measure (log_function L)) log_computed.
Proof. apply ratio_encloses; intros q H; simpl; [now apply log_at_ok | apply between_exactly; now rewrite ofQ_1 | now apply log_at_ok]. Qed.
End LogComputed.

(** ** Roots: - sqrt(x y) *)
Record square_root (F : OrderedField) := {
  sqrt : F -> F;
  sqrt_ge0 : forall x : F, (0 <= x -> 0 <= sqrt x)%F;
  sqrt_square : forall x : F, (0 <= x -> sqrt x * sqrt x = x)%F
}.

Section Root.
Variable F : OrderedField.
Add Field F_root : (field_ok F).
Local Open Scope field_scope.
Variable R : square_root F.
Implicit Types r x y : F.
Notation sqrt := (sqrt R).

Lemma below_of_squares (a b : F) : 0 <= b -> a * a <= b * b -> a <= b.
Proof. intros B H. destruct (le_lt a b) as [K | K]; [assumption |]. exfalso.
  assert (A : 0 < a) by now apply le_lt_trans with b.
  apply (@mul_gt0 F (a - b) (a + b)); [now apply sub_gt0 | now apply add_gt0 |].
  apply le_by with (b * b - a * a); [ring | now apply sub_ge0]. Qed.

Lemma sqrt_is x r : 0 <= x -> 0 <= r -> r * r = x -> sqrt x = r.
Proof. intros X P E. pose proof (sqrt_ge0 R X). apply le_antisym; apply below_of_squares; auto; rewrite (sqrt_square R X), E; apply le_refl. Qed.

Lemma sqrt_0 : sqrt 0 = 0.
Proof. apply sqrt_is; try apply le_refl. ring. Qed.

Lemma sqrt_mul x y : 0 <= x -> 0 <= y -> sqrt (x * y) = sqrt x * sqrt y.
Proof. intros X Y. apply sqrt_is; [now apply le_mul | apply le_mul; now apply sqrt_ge0 |].
  transitivity (sqrt x * sqrt x * (sqrt y * sqrt y)); [ring |]. now rewrite !sqrt_square. Qed.

Lemma sqrt_gt0 x : 0 < x -> 0 < sqrt x.
Proof. intros X H. assert (E : sqrt x = 0) by (apply le_antisym; [assumption | now apply sqrt_ge0, lt_le]).
  apply X. rewrite <- (sqrt_square R (lt_le X)), E. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Definition root_measure : measure F := {|
  phi := fun l => match l with [x; y] => Some (- sqrt (x * y)) | _ => Some 0 end;
  signed := false; together := false; needed := [0%nat; 1%nat];
  scale_factor := fun xs => match xs with [l; m] => sqrt (ofQ l * ofQ m) | _ => 1 end;
  scale_shift := fun _ => 0 |}.

Lemma cauchy x y x' y' : 0 <= x -> 0 <= y -> 0 <= x' -> 0 <= y' ->
  sqrt (x * y) + sqrt (x' * y') <= sqrt ((x + x') * (y + y')).
Proof.
  intros X Y X' Y'. assert (P : 0 <= (x + x') * (y + y')) by (apply le_mul; now apply add_ge0).
  apply below_of_squares; [now apply sqrt_ge0 |]. rewrite (sqrt_square R P), !sqrt_mul by assumption.
  set (a := sqrt x). set (b := sqrt x'). set (c := sqrt y). set (d := sqrt y').
  replace (x + x') with (a * a + b * b) by (unfold a, b; now rewrite !sqrt_square).
  replace (y + y') with (c * c + d * d) by (unfold c, d; now rewrite !sqrt_square).
  apply le_by with ((a * d - b * c) * (a * d - b * c)); [ring |].
  destruct (le_total 0 (a * d - b * c)) as [K | K]; [now apply le_mul |].
  apply le_by with ((0 - (a * d - b * c)) * (0 - (a * d - b * c))); [ring | apply le_mul; now apply sub_ge0].
Qed.

Lemma root_lawful : lawful root_measure.
Proof.
  assert (Dom : forall (A : Type) (L : list A) f, in_domain root_measure (map f L) -> forall a, In a L -> 0 <= f a).
  { intros A L f [H | H] a I; [easy | apply H; now apply in_map]. }
  assert (Z : - sqrt 0 = 0) by (rewrite sqrt_0; ring).
  constructor.
  - intros [| x [| y [| z l]]] H; try reflexivity. simpl. rewrite (H x) by now left. replace (0 * y) with (0 : F) by ring. now rewrite Z.
  - intros [| x [| y [| z l]]] k [<- | [<- | []]] H; try reflexivity; simpl in *; subst.
    + replace (0 * y) with (0 : F) by ring. now rewrite Z.
    + replace (x * 0) with (0 : F) by ring. now rewrite Z.
  - intros A L f g Df Dg. pose proof (Dom A L f Df) as Pf. pose proof (Dom A L g Dg) as Pg.
    destruct L as [| a [| b [| c L]]]; simpl in *; try (apply le_by with (0 : F); [ring | apply le_refl]).
    apply le_by with (sqrt ((f a + g a) * (f b + g b)) - (sqrt (f a * f b) + sqrt (g a * g b))); [ring |].
    apply sub_ge0, cauchy; auto.
  - intros c l Hc D. assert (P : forall x, In x l -> 0 <= x) by (destruct D as [D | D]; [easy | exact D]).
    destruct l as [| x [| y [| z l]]]; simpl; try (f_equal; ring). f_equal.
    assert (X : 0 <= x) by (apply P; now left). assert (Y : 0 <= y) by (apply P; right; now left).
    replace (c * x * (c * y)) with (c * c * (x * y)) by ring. pose proof (lt_le Hc) as C0.
    rewrite (@sqrt_mul (c * c)) by now apply le_mul. rewrite (@sqrt_is (c * c) c) by (auto; now apply le_mul). ring.
  - intros A L f [X _] D. pose proof (Dom _ L (fun p => f (snd p)) D) as P.
    destruct L as [| a [| b [| c L]]]; simpl in *; try (f_equal; ring). f_equal.
    assert (Xa : 0 <= (ofQ (fst a) : F)) by (apply ofQ_ge0, Qlt_le_weak; auto).
    assert (Xb : 0 <= (ofQ (fst b) : F)) by (apply ofQ_ge0, Qlt_le_weak; auto).
    replace (ofQ (fst a) * f (snd a) * (ofQ (fst b) * f (snd b))) with (ofQ (fst a) * ofQ (fst b) * (f (snd a) * f (snd b))) by ring.
    rewrite sqrt_mul; [ring | now apply le_mul | apply le_mul; auto].
  - intros xs [X _]. destruct xs as [| l [| m [| n xs]]]; simpl; try apply one_gt0.
    apply sqrt_gt0, mul_gt0; apply ofQ_gt0, X; simpl; auto.
Qed.

Lemma root_below_0 l : in_domain root_measure l -> leq (phi root_measure l) (Some 0).
Proof. intro D. assert (P : forall x, In x l -> 0 <= x) by (destruct D as [D | D]; [easy | exact D]).
  destruct l as [| x [| y [| z l]]]; simpl; try apply le_refl. apply le_by with (sqrt (x * y)); [ring |].
  apply (sqrt_ge0 R), le_mul; apply P; simpl; auto. Qed.

Variable guess : Z -> Z.

Lemma root_at_between q : (0 <= q)%Q -> between (root_at guess q) (sqrt (ofQ q)).
Proof.
  intro H. pose proof (root_at_ok guess H) as K. destruct (root_at guess q) as [lo up]. destruct K as (A & B & A' & B').
  pose proof (ofQ_ge0 F H) as Hf. split; cbn [fst snd]; apply below_of_squares; try (now apply sqrt_ge0); try (now apply ofQ_ge0);
    rewrite (sqrt_square R Hf), <- ofQ_mul; now apply ofQ_le.
Qed.

Local Opaque root_at.
Definition root_computed : computed := {|
  is_signed := false; is_together := false; rows_needed := [0%nat; 1%nat]; infinite := fun _ => false;
  bounds := fun l => match l with
    | [x; y] => let e := root_at guess (Qred (x * y)) in Some (Qred (- snd e), Qred (- fst e))
    | _ => Some (exactly 0%Q)
    end;
  along := fun xs => match xs with
    | [l; m] => (let e := root_at guess (Qred (l * m)) in (Qred (fst e), Qred (snd e)), exactly 0%Q)
    | _ => (exactly 1%Q, exactly 0%Q)
    end |}.

Lemma root_encloses : encloses root_measure root_computed.
Proof.
  constructor; try easy.
  - intros l D. destruct l as [| x [| y [| z l]]]; simpl; try (exists 0; split; [reflexivity | apply between_exactly; now rewrite ofQ_0]).
    eexists; split; [reflexivity |].
    assert (P : (0 <= x * y)%Q).
    { destruct D as [D | D]; [easy |]. apply Qnot_lt_le. intro K. apply (@ofQ_lt F) in K. rewrite ofQ_0, ofQ_mul in K. apply K.
      apply le_mul; apply D; simpl; auto. }
    rewrite <- ofQ_mul, <- (ofQ_eq F (Qred_correct (x * y))). assert (P' : (0 <= Qred (x * y))%Q) by now rewrite Qred_correct.
    destruct (root_at_between P') as [A B].
    split; cbn [fst snd]; rewrite (ofQ_eq F (Qred_correct (- _))), ofQ_opp.
    + apply le_by with (ofQ (snd (root_at guess (Qred (x * y)))) - sqrt (ofQ (Qred (x * y)))); [ring | now apply sub_ge0].
    + apply le_by with (sqrt (ofQ (Qred (x * y))) - ofQ (fst (root_at guess (Qred (x * y))))); [ring | now apply sub_ge0].
  - intros xs [X _]. destruct xs as [| l [| m [| n xs]]]; simpl; try (split; apply between_exactly; symmetry; [apply ofQ_1 | apply ofQ_0]).
    split; [| apply between_exactly; now rewrite ofQ_0].
    assert (P : (0 <= Qred (l * m))%Q) by (rewrite Qred_correct; apply Qmult_le_0_compat; apply Qlt_le_weak, X; simpl; auto).
    rewrite <- ofQ_mul, <- (ofQ_eq F (Qred_correct (l * m))). destruct (root_at_between P) as [A B].
    split; cbn [fst snd]; [rewrite (ofQ_eq F (Qred_correct (fst _))) | rewrite (ofQ_eq F (Qred_correct (snd _)))]; assumption.
Qed.
End Root.

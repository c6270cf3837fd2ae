(** * Numbers for compositions: roundings, the exponential function, sums of entries, and products of polynomials

    Each bound is a rational beside a number of the field. *)

From Coq Require Import ZArith QArith List Field Lia Lqa.
From Bisimdist Require Import OrderedField Accountant.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** ** Roundings to multiples of 1 / scale *)
Definition floor_of (q : Q) : Z := (Qnum q / Zpos (Qden q))%Z.
Definition ceiling_of (q : Q) : Z := (- (- Qnum q / Zpos (Qden q)))%Z.
Definition down (scale : positive) (q : Q) : Q := (Qnum q * Zpos scale / Zpos (Qden q))%Z # scale.
Definition up (scale : positive) (q : Q) : Q := (- (- (Qnum q * Zpos scale) / Zpos (Qden q)))%Z # scale.

Lemma floor_le q : (inject_Z (floor_of q) <= q)%Q.
Proof. unfold floor_of, Qle; simpl. pose proof (Z.mul_div_le (Qnum q) (Zpos (Qden q))). lia. Qed.

Lemma floor_next q : (q <= inject_Z (floor_of q + 1))%Q.
Proof. unfold floor_of, Qle; simpl. pose proof (Z.mul_succ_div_gt (Qnum q) (Zpos (Qden q))). lia. Qed.

Lemma le_ceiling q : (q <= inject_Z (ceiling_of q))%Q.
Proof. unfold ceiling_of, Qle; simpl. pose proof (Z.mul_div_le (- Qnum q) (Zpos (Qden q))). lia. Qed.

Lemma down_le s q : (down s q <= q)%Q.
Proof. unfold down, Qle; simpl. pose proof (Z.mul_div_le (Qnum q * Zpos s) (Zpos (Qden q))). lia. Qed.

Lemma le_up s q : (q <= up s q)%Q.
Proof. unfold up, Qle; simpl. pose proof (Z.mul_div_le (- (Qnum q * Zpos s)) (Zpos (Qden q))). lia. Qed.

Arguments floor_le : clear implicits.
Arguments floor_next : clear implicits.
Arguments le_ceiling : clear implicits.
Arguments down_le : clear implicits.
Arguments le_up : clear implicits.

Lemma down_ge0 s q : (0 <= q)%Q -> (0 <= down s q)%Q.
Proof. unfold down, Qle; simpl. intro H. pose proof (Z.div_pos (Qnum q * Zpos s) (Zpos (Qden q))). lia. Qed.

Lemma floor_ge0 q : (0 <= q)%Q -> (0 <= floor_of q)%Z.
Proof. unfold floor_of, Qle; simpl. intro H. apply Z.div_pos; lia. Qed.

Lemma ceiling_ge0 q : (0 <= q)%Q -> (0 <= ceiling_of q)%Z.
Proof. intro H. pose proof (le_ceiling q) as K. rewrite Zle_Qle. change (inject_Z 0) with 0%Q. lra. Qed.

(** ** Products of polynomials: one product of long integers *)
Definition packed (size : Z) (l : list Z) : Z := fold_right (fun x rest => x + Z.shiftl rest size)%Z 0%Z l.
Fixpoint two (k : nat) : nat := match k with O => 1%nat | S k' => (two k' + two k')%nat end.

(* By halves, so that numbers are long in the last steps only. *)
Fixpoint pack (k : nat) (size : Z) (l : list Z) : Z := match k with
  | O => match l with x :: _ => x | [] => 0%Z end
  | S k' => match l with [] => 0%Z | _ => (pack k' size (firstn (two k') l) + Z.shiftl (pack k' size (skipn (two k') l)) (size * Z.of_nat (two k')))%Z end
  end.
Fixpoint unpack (k : nat) (size : Z) (x : Z) : list Z := match k with
  | O => [x]
  | S k' => let width := (size * Z.of_nat (two k'))%Z in let high := Z.shiftr x width in unpack k' size (x - Z.shiftl high width) ++ unpack k' size high
  end.

Definition product (a b : list Z) : list Z :=
  let size := (Z.log2 (total a * total b) + 1)%Z in
  let n := Nat.pred (length a + length b) in
  let k := Z.to_nat (Z.log2 (Z.of_nat n) + 1) in
  firstn n (unpack k size (pack k size a * pack k size b)).

Lemma packed_app size a b : (0 <= size)%Z -> packed size (a ++ b) = (packed size a + 2 ^ (size * Z.of_nat (length a)) * packed size b)%Z.
Proof.
  intro S. induction a as [| x a IH]; [change (packed size ([] ++ b)) with (packed size b); change (packed size []) with 0%Z; change (Z.of_nat (length (@nil Z))) with 0%Z; rewrite Z.mul_0_r, Z.pow_0_r; lia |]. simpl length. rewrite Nat2Z.inj_succ, Z.mul_succ_r, Z.pow_add_r by lia.
  simpl. rewrite IH, !Z.shiftl_mul_pow2 by assumption. ring. Qed.

Lemma packed_range size d : (0 <= size)%Z -> (forall x, In x d -> 0 <= x < 2 ^ size)%Z -> (0 <= packed size d < 2 ^ (size * Z.of_nat (length d)))%Z.
Proof.
  intros S. induction d as [| x d IH]; intro B; [simpl; rewrite Z.mul_0_r; lia |]. simpl length. rewrite Nat2Z.inj_succ, Z.mul_succ_r, Z.pow_add_r by lia.
  specialize (IH (fun y I => B y (or_intror I))). specialize (B x (or_introl eq_refl)). simpl. rewrite Z.shiftl_mul_pow2 by assumption. nia. Qed.

Lemma packed_zeros size n : packed size (repeat 0%Z n) = 0%Z.
Proof. induction n as [| n IH]; simpl; [reflexivity |]. now rewrite IH, Z.shiftl_0_l. Qed.

Lemma pack_packed size k : (0 <= size)%Z -> forall l, (length l <= two k)%nat -> pack k size l = packed size l.
Proof.
  intro S. induction k as [| k IH]; intros l L; simpl in L |- *.
  - destruct l as [| x [| y l]]; simpl in *; try reflexivity; [now rewrite Z.shiftl_0_l, Z.add_0_r | lia].
  - destruct l as [| x l]; [reflexivity |]. set (m := x :: l) in *. assert (Ls : (length (skipn (two k) m) <= two k)%nat) by (rewrite skipn_length; lia).
    rewrite !IH by (try assumption; rewrite firstn_length; lia).
    rewrite Z.shiftl_mul_pow2 by nia. transitivity (packed size (firstn (two k) m ++ skipn (two k) m)); [| now rewrite firstn_skipn].
    rewrite packed_app by assumption. destruct (le_lt_dec (two k) (length m)) as [H | H].
    + rewrite firstn_length, Nat.min_l by assumption. ring.
    + rewrite skipn_all2 by lia. simpl. ring. Qed.

Lemma unpack_packed size k : (0 <= size)%Z -> forall d, length d = two k -> (forall x, In x d -> 0 <= x < 2 ^ size)%Z -> unpack k size (packed size d) = d.
Proof.
  intro S. induction k as [| k IH]; intros d L B; simpl in L |- *.
  - destruct d as [| x [| y d]]; simpl in *; try lia. now rewrite Z.shiftl_0_l, Z.add_0_r.
  - set (h := two k) in *. pose proof (firstn_skipn h d) as Sp. set (a := firstn h d) in *. set (b := skipn h d) in *.
    assert (La : length a = h) by (unfold a; rewrite firstn_length; lia). assert (Lb : length b = h) by (unfold b; rewrite skipn_length; lia).
    assert (Ba : forall x, In x a -> (0 <= x < 2 ^ size)%Z) by (intros x I; apply B; rewrite <- Sp; apply in_app_iff; now left).
    assert (Bb : forall x, In x b -> (0 <= x < 2 ^ size)%Z) by (intros x I; apply B; rewrite <- Sp; apply in_app_iff; now right).
    assert (Pk : packed size d = (packed size a + 2 ^ (size * Z.of_nat h) * packed size b)%Z) by (rewrite <- Sp at 1; rewrite packed_app, La by assumption; reflexivity).
    pose proof (packed_range S Ba) as Ra. rewrite La in Ra.
    assert (H : Z.shiftr (packed size d) (size * Z.of_nat h) = packed size b).
    { rewrite Z.shiftr_div_pow2 by nia. symmetry. apply (Z.div_unique _ _ _ (packed size a)); [now left | lia]. }
    rewrite H, Z.shiftl_mul_pow2 by nia. replace (packed size d - packed size b * 2 ^ (size * Z.of_nat h))%Z with (packed size a) by lia.
    rewrite (IH a La Ba), (IH b Lb Bb). exact Sp. Qed.

Lemma packed_plus size a : forall b, (0 <= size)%Z -> packed size (plus a b) = (packed size a + packed size b)%Z.
Proof. induction a as [| x a IH]; intros [| y b] S; simpl; try lia. rewrite IH, !Z.shiftl_mul_pow2 by assumption. ring. Qed.

Lemma packed_map size x b : (0 <= size)%Z -> packed size (map (Z.mul x) b) = (x * packed size b)%Z.
Proof. intro S. induction b as [| y b IH]; simpl; [ring |]. rewrite IH, !Z.shiftl_mul_pow2 by assumption. ring. Qed.

Lemma packed_conv size a b : (0 <= size)%Z -> packed size (conv a b) = (packed size a * packed size b)%Z.
Proof.
  intro S. induction a as [| x a IH]; simpl; [reflexivity |]. rewrite packed_plus, packed_map by assumption. simpl.
  rewrite IH, !Z.shiftl_mul_pow2 by assumption. ring. Qed.

Lemma total_plus a : forall b, total (plus a b) = (total a + total b)%Z.
Proof. induction a as [| x a IH]; intros [| y b]; simpl; try lia. rewrite IH. lia. Qed.

Lemma total_map x b : total (map (Z.mul x) b) = (x * total b)%Z.
Proof. induction b as [| y b IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_conv a b : total (conv a b) = (total a * total b)%Z.
Proof. induction a as [| x a IH]; simpl; [reflexivity |]. rewrite total_plus, total_map. simpl. rewrite IH. ring. Qed.

Lemma no_less_plus a : forall b, no_less a -> no_less b -> no_less (plus a b).
Proof.
  induction a as [| x a IH]; intros [| y b] A B; simpl; try assumption. intros z [<- | I].
  - specialize (A x (or_introl eq_refl)). specialize (B y (or_introl eq_refl)). lia.
  - apply (IH b); try assumption; [intros u J; apply A; now right | intros u J; apply B; now right]. Qed.

Lemma no_less_conv a b : no_less a -> no_less b -> no_less (conv a b).
Proof.
  induction a as [| x a IH]; intros A B; simpl; [easy |]. apply no_less_plus.
  - intros y I. apply in_map_iff in I. destruct I as (z & <- & J). specialize (B z J). specialize (A x (or_introl eq_refl)). nia.
  - intros y [<- | I]; [lia |]. apply IH; auto. intros z J; apply A; now right. Qed.

Lemma total_ge0 l : no_less l -> (0 <= total l)%Z.
Proof. induction l as [| x l IH]; intro N; simpl; [lia |]. specialize (N x (or_introl eq_refl)) as H. assert (no_less l) by (intros y I; apply N; now right). specialize (IH H0). lia. Qed.

Lemma in_total l x : no_less l -> In x l -> (x <= total l)%Z.
Proof.
  induction l as [| y l IH]; [easy |]. intros N [<- | I]; simpl.
  - assert (no_less l) by (intros z J; apply N; now right). pose proof (total_ge0 H). lia.
  - assert (no_less l) by (intros z J; apply N; now right). specialize (IH H I). specialize (N y (or_introl eq_refl)). lia. Qed.

Lemma length_plus a : forall b, length (plus a b) = Nat.max (length a) (length b).
Proof. induction a as [| x a IH]; intros [| y b]; simpl; try reflexivity. now rewrite IH. Qed.

Lemma length_conv a b : b <> [] -> a <> [] -> length (conv a b) = Nat.pred (length a + length b).
Proof.
  intros N. induction a as [| x a IH]; intro M; [easy |]. simpl. rewrite length_plus, map_length. simpl.
  destruct a as [| y a]; [destruct b; simpl; [easy | lia] |]. rewrite IH by easy. destruct b; simpl; [easy |]. lia. Qed.

Theorem product_ok a b : no_less a -> no_less b -> a <> [] -> b <> [] -> product a b = conv a b.
Proof.
  intros A B Ea Eb. unfold product. set (size := (Z.log2 (total a * total b) + 1)%Z).
  assert (S : (0 <= size)%Z) by (unfold size; pose proof (Z.log2_nonneg (total a * total b)); lia).
  set (n := Nat.pred (length a + length b)). set (k := Z.to_nat (Z.log2 (Z.of_nat n) + 1)).
  assert (La : (length a <> 0)%nat) by (intro Z0; apply Ea; now apply length_zero_iff_nil). assert (Lb : (length b <> 0)%nat) by (intro Z0; apply Eb; now apply length_zero_iff_nil).
  assert (N : length (conv a b) = n) by now apply length_conv.
  assert (Two : Z.of_nat (two k) = (2 ^ Z.of_nat k)%Z).
  { clear. induction k as [| k IH]; [reflexivity |]. simpl two. rewrite Nat2Z.inj_add, IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. lia. }
  assert (K : (n < two k)%nat).
  { apply Nat2Z.inj_lt. rewrite Two. unfold k. pose proof (Z.log2_spec (Z.of_nat n)). pose proof (Z.log2_nonneg (Z.of_nat n)). rewrite Z2Nat.id by lia. replace (Z.log2 (Z.of_nat n) + 1)%Z with (Z.succ (Z.log2 (Z.of_nat n))) by lia. unfold n in *. lia. }
  rewrite !pack_packed by (try assumption; unfold n in K; lia). rewrite <- packed_conv by assumption.
  assert (Pad : packed size (conv a b) = packed size (conv a b ++ repeat 0%Z (two k - n))) by (rewrite packed_app, packed_zeros by assumption; lia).
  rewrite Pad, unpack_packed; [| assumption | rewrite app_length, repeat_length; lia |].
  - rewrite <- N. now rewrite firstn_app, firstn_all, Nat.sub_diag, firstn_O, app_nil_r.
  - intros x I. apply in_app_iff in I. destruct I as [I | I]; [| apply repeat_spec in I; subst x; split; [lia | apply Z.pow_pos_nonneg; lia]].
    pose proof (no_less_conv A B I). split; [assumption |]. apply (in_total (no_less_conv A B)) in I. rewrite total_conv in I.
    destruct (Z.eq_dec (total a * total b) 0) as [Z0 | NZ].
    + rewrite Z0 in *. unfold size. simpl. lia.
    + pose proof (Z.log2_spec (total a * total b)). pose proof (total_ge0 A). pose proof (total_ge0 B). unfold size. replace (Z.log2 (total a * total b) + 1)%Z with (Z.succ (Z.log2 (total a * total b))) by lia. nia. Qed.

Definition rounded_up_product (unit : Z) (a b : list Z) : list Z := map (fun x => (- (- x / unit))%Z) (product a b).
Definition rounded_down_product (unit : Z) (a b : list Z) : list Z := map (fun x => (x / unit)%Z) (product a b).

Lemma up_product unit a b : (0 < unit)%Z -> Forall2 (fun v w => (v <= unit * w)%Z) (product a b) (rounded_up_product unit a b).
Proof. intro U. unfold rounded_up_product. induction (product a b) as [| x l IH]; simpl; constructor; [| assumption]. pose proof (Z.mul_div_le (- x) unit U). lia. Qed.

Lemma down_product unit a b : (0 < unit)%Z -> Forall2 (fun v w => (unit * w <= v)%Z) (product a b) (rounded_down_product unit a b).
Proof. intro U. unfold rounded_down_product. induction (product a b) as [| x l IH]; simpl; constructor; [| assumption]. apply Z.mul_div_le. assumption. Qed.

(** ** The exponential function: e^x = (e^(x/2))^2, and 1 + x <= e^x <= 1 / (1 - x) *)
(* How finely powers are worked out, and how finely they and sums are kept. *)
Record precision := { scale : positive; halvings : nat; kept : positive }.

Fixpoint low_power (s : positive) (n : nat) (x : Q) : Q := match n with
  | O => if Qle_bool 0 (1 + x) then down s (1 + x) else 0
  | S n' => let r := low_power s n' (Qmake (Qnum x) (2 * Qden x)) in down s (r * r)
  end.

(* Where x is still 1 or more after all halvings, which does not happen, e^x is less than 4^(x + 1). *)
Fixpoint high_power (s : positive) (n : nat) (x : Q) : Q := match n with
  | O => if Qle_bool x (1 # 2) then up s (/ (1 - x)) else inject_Z (4 ^ (floor_of x + 1))
  | S n' => let r := high_power s n' (Qmake (Qnum x) (2 * Qden x)) in up s (r * r)
  end.

Definition exp_low (p : precision) (x : Q) : Q := down (kept p) (low_power (scale p) (halvings p) x).
Definition exp_high (p : precision) (x : Q) : Q := up (kept p) (high_power (scale p) (halvings p) x).

Section Field.
Variable F : OrderedField.
Add Field F_field3 : (field_ok F).
Local Open Scope field_scope.
Variable E : Q -> F.
Hypothesis E_ok : exponential E.
Notation z_ := (ofZ F).

Lemma ofZ_inject z : ofQ (inject_Z z) = z_ z.
Proof. unfold ofQ, inject_Z. cbn [Qnum Qden]. change (z_ 1) with (1 : F). field. apply lt_neq, one_gt0. Qed.

Lemma half_twice x : (Qmake (Qnum x) (2 * Qden x) + Qmake (Qnum x) (2 * Qden x) == x)%Q.
Proof. unfold Qeq, Qplus; simpl. lia. Qed.

Lemma exp_twice x : E x = E (Qmake (Qnum x) (2 * Qden x)) * E (Qmake (Qnum x) (2 * Qden x)).
Proof. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). symmetry. apply half_twice. Qed.

Lemma low_power_ok s n : forall x, (0 <= low_power s n x)%Q /\ ofQ (low_power s n x) <= E x.
Proof.
  induction n as [| n IH]; intro x; cbn [low_power].
  - destruct (Qle_bool 0 (1 + x)) eqn:H.
    + apply Qle_bool_iff in H. split; [now apply down_ge0 |]. apply le_trans with (ofQ (1 + x)); [apply ofQ_le, down_le |].
      rewrite ofQ_add, ofQ_1. apply (exp_above E_ok).
    + split; [lra |]. rewrite ofQ_0. now apply exp_ge0.
  - set (y := Qmake (Qnum x) (2 * Qden x)). destruct (IH y) as [P L]. set (r := low_power s n y) in *.
    assert (R : (0 <= r * r)%Q) by nra. split; [now apply down_ge0 |].
    apply le_trans with (ofQ (r * r)); [apply ofQ_le, down_le |]. rewrite ofQ_mul, exp_twice. fold y.
    apply le_by with ((E y - ofQ r) * ofQ r + E y * (E y - ofQ r)); [ring |].
    apply add_ge0; apply le_mul; try (now apply sub_ge0); [now apply ofQ_ge0 | now apply exp_ge0]. Qed.

Lemma exp_power n : E (inject_Z (Z.of_nat n)) <= ofQ (inject_Z (4 ^ Z.of_nat n)).
Proof.
  induction n as [| n IH].
  - change (inject_Z (Z.of_nat 0)) with 0%Q. rewrite (exp_0 E_ok). change (inject_Z (4 ^ Z.of_nat 0)) with 1%Q. rewrite ofQ_1. apply le_refl.
  - assert (H4 : E 1%Q <= ofQ 4).
    { assert (H2 : E (1 # 2)%Q <= ofQ 2).
      { apply cut_by with (ofQ (1 # 2)); [apply ofQ_gt0; reflexivity |]. rewrite <- ofQ_mul.
        assert (U : ofQ (1 # 2) <= E (- (1 # 2))%Q).
        { eapply le_trans; [| apply (exp_above E_ok)]. rewrite <- ofQ_1, <- ofQ_add. apply ofQ_le. lra. }
        apply le_trans with (E (- (1 # 2))%Q * E (1 # 2)%Q).
        - apply le_by with ((E (- (1 # 2))%Q - ofQ (1 # 2)) * E (1 # 2)%Q); [ring |]. apply le_mul; [now apply sub_ge0 | now apply exp_ge0].
        - rewrite <- (exp_add E_ok). rewrite (exp_eq E_ok (y := 0%Q)) by ring. rewrite (exp_0 E_ok), <- ofQ_1. apply ofQ_le. lra. }
      rewrite exp_twice. change (Qmake (Qnum 1) (2 * Qden 1)) with (1 # 2). replace (ofQ 4 : F) with ((ofQ 2 : F) * ofQ 2) by (rewrite <- ofQ_mul; now apply ofQ_eq).
      set (h := E (1 # 2)%Q) in *. apply le_by with ((ofQ 2 - h) * ofQ 2 + h * (ofQ 2 - h)); [ring |].
      apply add_ge0; apply le_mul; try (now apply sub_ge0); [apply ofQ_ge0; lra | now apply exp_ge0]. }
    rewrite (exp_eq E_ok (y := (1 + inject_Z (Z.of_nat n))%Q)).
    2: { rewrite Nat2Z.inj_succ. unfold Z.succ. rewrite inject_Z_plus. change (inject_Z 1) with 1%Q. ring. }
    rewrite (exp_add E_ok). rewrite Nat2Z.inj_succ, Z.pow_succ_r, inject_Z_mult, ofQ_mul by lia. change (inject_Z 4) with 4%Q.
    set (a := E 1%Q) in *. set (b := E (inject_Z (Z.of_nat n))) in *. set (c := ofQ (inject_Z (4 ^ Z.of_nat n)) : F) in *.
    assert (0 <= a) by now apply exp_ge0.
    apply le_by with ((ofQ 4 - a) * c + a * (c - b)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); [| assumption].
    unfold c. apply ofQ_ge0. change 0%Q with (inject_Z 0). rewrite <- Zle_Qle. apply Z.pow_nonneg. lia. Qed.

Lemma high_power_ok s n : forall x, E x <= ofQ (high_power s n x).
Proof.
  induction n as [| n IH]; intro x; cbn [high_power].
  - destruct (Qle_bool x (1 # 2)) eqn:H.
    + apply Qle_bool_iff in H. apply le_trans with (ofQ (/ (1 - x))); [| apply ofQ_le, le_up].
      apply cut_by with (ofQ (1 - x)); [apply ofQ_gt0; lra |]. rewrite <- ofQ_mul, (@ofQ_eq F ((1 - x) * / (1 - x)) 1) by (field; lra). rewrite ofQ_1.
      rewrite <- (exp_inverse E_ok x). replace (ofQ (1 - x) * E x) with (E x * ofQ (1 - x)) by ring. apply le_scale; [now apply exp_ge0 |].
      eapply le_trans; [| apply (exp_above E_ok)]. rewrite <- ofQ_1, <- ofQ_add. apply ofQ_le. lra.
    + assert (X : (1 # 2 < x)%Q) by (apply Qnot_le_lt; intro L; apply Qle_bool_iff in L; congruence).
      assert (P : (0 <= floor_of x)%Z) by (apply floor_ge0; lra).
      apply le_trans with (E (inject_Z (floor_of x + 1))); [apply (exp_mono E_ok), floor_next |].
      rewrite <- (Z2Nat.id (floor_of x + 1)) by lia. apply exp_power.
  - set (y := Qmake (Qnum x) (2 * Qden x)). specialize (IH y). set (r := high_power s n y) in *.
    apply le_trans with (ofQ (r * r)); [| apply ofQ_le, le_up]. rewrite ofQ_mul, exp_twice. fold y.
    pose proof (exp_ge0 E_ok y) as P. assert (0 <= (ofQ r : F)) by now apply le_trans with (E y).
    apply le_by with ((ofQ r - E y) * ofQ r + E y * (ofQ r - E y)); [ring |].
    apply add_ge0; apply le_mul; try (now apply sub_ge0); assumption. Qed.

Theorem exp_low_ok p x : (0 <= exp_low p x)%Q /\ ofQ (exp_low p x) <= E x.
Proof.
  destruct (low_power_ok (scale p) (halvings p) x) as [P L]. split; [now apply down_ge0 |]. eapply le_trans; [apply ofQ_le, down_le | exact L]. Qed.

Theorem exp_high_ok p x : E x <= ofQ (exp_high p x).
Proof. eapply le_trans; [apply (high_power_ok (scale p) (halvings p)) | apply ofQ_le, le_up]. Qed.

Lemma exp_high_ge0 p x : (0 <= exp_high p x)%Q.
Proof.
  destruct (Qlt_le_dec (exp_high p x) 0) as [L | L]; [| assumption]. exfalso. apply (@exp_gt0 F E E_ok x).
  apply le_trans with (ofQ (exp_high p x)); [apply exp_high_ok |]. rewrite <- (ofQ_0 F). apply ofQ_le. lra. Qed.

(** ** Weights that fall by one factor from a place to the next one, and sums of entries with them *)
Definition weight (kappa rho : Q) (z : Z) : F := E (kappa - rho * inject_Z z)%Q.

Lemma weight_gt0 k r z : 0 < weight k r z.
Proof. now apply exp_gt0. Qed.

Lemma weight_ge0 k r : weighty (weight k r).
Proof. intro z. now apply exp_ge0. Qed.

Lemma weight_mul k k' r z y : weight k r z * weight k' r y = weight (k + k') r (z + y).
Proof. unfold weight. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite inject_Z_plus. ring. Qed.

Lemma weight_next k r z : weight k r (z + 1) = weight k r z * E (- r)%Q.
Proof. unfold weight. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite inject_Z_plus. change (inject_Z 1) with 1%Q. ring. Qed.

Lemma weight_back k r z : weight k r z = weight k r (z + 1) * E r.
Proof. unfold weight. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite inject_Z_plus. change (inject_Z 1) with 1%Q. ring. Qed.

Lemma weight_eq k k' r r' z : (k == k')%Q -> (r == r')%Q -> weight k r z = weight k' r' z.
Proof. intros A B. apply (exp_eq E_ok). rewrite A, B. reflexivity. Qed.

Definition sum_up (s : positive) (factor : Q) (l : list Z) : Q := fold_right (fun x rest => up s (inject_Z x + factor * rest)) 0%Q l.
Definition sum_down (s : positive) (factor : Q) (l : list Z) : Q := fold_right (fun x rest => down s (inject_Z x + factor * rest)) 0%Q l.

Lemma sum_up_ok s f k r l : E (- r)%Q <= ofQ f -> no_less l -> forall low, value (weight k r) low l <= weight k r low * ofQ (sum_up s f l).
Proof.
  intros Ef. induction l as [| x l IH]; intros N low; simpl; [rewrite ofQ_0; apply le_by with (0 : F); [ring | apply le_refl] |].
  assert (N' : no_less l) by (intros y I; apply N; now right). specialize (IH N' (low + 1)%Z).
  pose proof (@weight_ge0 k r low) as W. pose proof (@weight_ge0 k r (low + 1)%Z) as W1. set (t := sum_up s f l) in *.
  assert (U : (ofQ (inject_Z x + f * t) : F) <= ofQ (up s (inject_Z x + f * t))) by apply ofQ_le, le_up. rewrite ofQ_add, ofQ_mul, ofZ_inject in U.
  rewrite weight_next in IH. change (fold_right _ _ l) with t.
  assert (T : 0 <= (ofQ t : F)).
  { clear U. destruct l as [| y l']; [unfold t; simpl; rewrite ofQ_0; apply le_refl |].
    assert (V : 0 <= value (weight k r) (low + 1) (y :: l')) by (apply value_ge0; [assumption | apply weight_ge0]).
    assert (G : 0 < weight k r low * E (- r)%Q) by (apply mul_gt0; [apply weight_gt0 | now apply exp_gt0]).
    apply cut_by with (weight k r low * E (- r)%Q); [assumption |]. apply le_trans with (value (weight k r) (low + 1) (y :: l')); [| exact IH].
    apply le_by with (value (weight k r) (low + 1) (y :: l')); [ring | assumption]. }
  set (v := value (weight k r) (low + 1) l) in *. set (w := weight k r low) in *. set (e := E (- r)%Q) in *.
  apply le_by with ((w * e * ofQ t - v) + w * ((ofQ f - e) * ofQ t) + w * (ofQ (up s (inject_Z x + f * t)) - (z_ x + ofQ f * ofQ t))); [ring |].
  repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. Qed.

Lemma sum_down_ok s f k r l : ofQ f <= E (- r)%Q -> (0 <= f)%Q -> no_less l -> forall low, (0 <= sum_down s f l)%Q /\ weight k r low * ofQ (sum_down s f l) <= value (weight k r) low l.
Proof.
  intros Ef F0. induction l as [| x l IH]; intros N low; simpl; [split; [lra |]; rewrite ofQ_0; apply le_by with (0 : F); [ring | apply le_refl] |].
  assert (N' : no_less l) by (intros y I; apply N; now right). destruct (IH N' (low + 1)%Z) as [T IH']. set (t := sum_down s f l) in *.
  change (fold_right _ _ l) with t.
  assert (X : (0 <= inject_Z x)%Q) by (change 0%Q with (inject_Z 0); rewrite <- Zle_Qle; apply N; now left).
  split; [apply down_ge0; nra |].
  pose proof (@weight_ge0 k r low) as W.
  assert (U : (ofQ (down s (inject_Z x + f * t)) : F) <= ofQ (inject_Z x + f * t)) by apply ofQ_le, down_le. rewrite ofQ_add, ofQ_mul, ofZ_inject in U.
  rewrite weight_next in IH'. assert (T0 : 0 <= (ofQ t : F)) by now apply ofQ_ge0.
  set (v := value (weight k r) (low + 1) l) in *. set (w := weight k r low) in *. set (e := E (- r)%Q) in *.
  apply le_by with ((v - w * e * ofQ t) + w * ((e - ofQ f) * ofQ t) + w * ((z_ x + ofQ f * ofQ t) - ofQ (down s (inject_Z x + f * t)))); [ring |].
  repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. Qed.

(** What is before a place, moved there. *)
Definition moved_up (s : positive) (factor : Q) (l : list Z) : Q := fold_left (fun sum x => up s ((sum + inject_Z x) * factor)) l 0%Q.

Lemma moved_up_ok s f k r l : E r <= ofQ f -> no_less l -> forall low, value (weight k r) low l <= ofQ (moved_up s f l) * weight k r (low + Z.of_nat (length l)).
Proof.
  intros Ef N low.
  assert (Gen : forall l, no_less l -> forall low sum, 0 <= (ofQ sum : F) ->
    ofQ sum * weight k r low + value (weight k r) low l <= ofQ (fold_left (fun sum x => up s ((sum + inject_Z x) * f)) l sum) * weight k r (low + Z.of_nat (length l))).
  { clear l N low. induction l as [| x l IH]; intros N low sum S0; simpl.
    - rewrite Z.add_0_r. apply le_by with (0 : F); [ring | apply le_refl].
    - assert (N' : no_less l) by (intros y I; apply N; now right).
      replace (low + Z.pos (Pos.of_succ_nat (length l)))%Z with (low + 1 + Z.of_nat (length l))%Z by lia.
      set (sum' := up s ((sum + inject_Z x) * f)). assert (X : 0 <= z_ x) by (apply ofZ_ge0, N; now left).
      pose proof (exp_ge0 E_ok r) as E0.
      assert (U : (ofQ sum + z_ x) * ofQ f <= ofQ sum') by (rewrite <- ofZ_inject, <- ofQ_add, <- ofQ_mul; apply ofQ_le, le_up).
      assert (S1 : (ofQ sum + z_ x) * E r <= ofQ sum').
      { eapply le_trans; [| exact U]. apply le_scale; [now apply add_ge0 | assumption]. }
      assert (S2 : 0 <= (ofQ sum' : F)) by (eapply le_trans; [| exact S1]; apply le_mul; [now apply add_ge0 | assumption]).
      eapply le_trans; [| apply (IH N' (low + 1)%Z sum' S2)]. rewrite (weight_back k r low).
      set (v := value (weight k r) (low + 1) l). set (w := weight k r (low + 1)).
      apply le_by with (w * (ofQ sum' - (ofQ sum + z_ x) * E r)); [ring |]. apply le_mul; [apply weight_ge0 | now apply sub_ge0]. }
  eapply le_trans; [| apply (Gen l N low 0%Q); rewrite ofQ_0; apply le_refl]. rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

End Field.

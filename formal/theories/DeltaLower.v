(** * delta from below by a graph of information states (rule D7 of docs/certificates/delta.md)

    Theorem 2 of docs/theory/delta.md: bounds that rest on what follows hold if from every node masses get lost, or
    a leaf is reached. The supremum over all events need not be attained, so the theorem says that events of finitely many
    labels come as close as one likes. *)

From Coq Require Import ZArith QArith Qabs Qround List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Delta.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition mass (c : list (positive * Q)) : Q := fold_right (fun e x => Qred (Qabs (snd e) + x))%Q 0%Q c.

Definition at_least_nothing (x : Q) : Q := if Qle_bool 0 x then x else 0%Q.

Section Rules.
Variable C : chain.
Variable vec : positive -> list (positive * Q).
Variable z : positive -> Q.
Variable far : positive -> nat.  (* how far it is to a node where masses get lost, or that stops *)
Variable nodes : list positive.

(** Edges with the labels that they carry: every label once, every entry of what follows of that label. *)
Definition labelled (edges : list (positive * (Q * positive))) :=
  NoDup (map fst edges) /\
  forall a x w, In (a, (x, w)) edges -> forall i q, In (i, q) (vec w) -> label C i = a.

Definition follows_below (v : positive) (edges : list (positive * (Q * positive))) :=
  let edges' := map snd edges in
  steps C vec v edges' /\ labelled edges /\ (forall x w, In (x, w) edges' -> (0 < x)%Q /\ In w nodes) /\
  (z v <= follow z edges')%Q /\
  (follow (fun w => mass (vec w)) edges' <= mass (vec v))%Q /\
  ((follow (fun w => mass (vec w)) edges' < mass (vec v))%Q \/ exists x w, In (x, w) edges' /\ (far w < far v)%nat).

Definition lower_node (v : positive) (edges : option (list (positive * (Q * positive)))) :=
  inside C (vec v) /\ (0 < mass (vec v))%Q /\
  match edges with
  | None => (z v <= at_least_nothing (total (vec v)))%Q
  | Some l => follows_below v l
  end.
End Rules.

(** ** What is small enough, in rationals *)
Lemma small_enough (l : list (Q * Q)) : (forall x y, In (x, y) l -> (0 < y)%Q) ->
  exists t, (0 < t /\ t < 1 /\ forall x y, In (x, y) l -> t * x < y)%Q.
Proof.
  induction l as [| [x y] l IH]; intro H.
  - exists (1 # 2)%Q; repeat split; easy.
  - destruct IH as (t & T0 & T1 & T); [intros x' y' I; apply (H x' y'); now right |].
    assert (Y : (0 < y)%Q) by (apply (H x y); now left).
    assert (X1 : (0 < Qabs x + 1)%Q) by (pose proof (Qabs_nonneg x); lra).
    set (s := (y / (Qabs x + 1))%Q).
    assert (S0 : (0 < s)%Q) by (unfold s; apply Qlt_shift_div_l; lra).
    assert (SX : (s * (Qabs x + 1) == y)%Q) by (unfold s; field; lra).
    assert (Less : forall r, (0 < r)%Q -> (r < s)%Q -> (r * x < y)%Q).
    { intros r R0 Rs. pose proof (Qle_Qabs x). pose proof (Qabs_nonneg x). nra. }
    destruct (Qlt_le_dec t s) as [L | L].
    + exists t; repeat split; try assumption. intros x' y' [E | I]; [| now apply T].
      injection E as -> ->; now apply Less.
    + exists (s / 2)%Q; assert (s / 2 == s * (1 # 2))%Q by field.
      assert (Sh : (0 < s / 2)%Q) by lra. assert (Sl : (s / 2 < s)%Q) by lra. repeat split; try lra.
      intros x' y' [E | I]; [injection E as -> ->; now apply Less |].
      specialize (T x' y' I). assert (Y' : (0 < y')%Q) by (apply (H x' y'); now right).
      destruct (Qlt_le_dec 0 x'); nra.
Qed.

Definition power (t : Q) (n : nat) : Q := Nat.iter n (Qmult t) 1%Q.

Lemma power_pos t n : (0 < t)%Q -> (0 < power t n)%Q.
Proof. intro H; induction n; simpl; [easy | unfold power in *; nra]. Qed.

Lemma power_mono t m n : (0 < t)%Q -> (t < 1)%Q -> (m <= n)%nat -> (power t n <= power t m)%Q.
Proof. intros H K; induction 1 as [| n L IH]; [apply Qle_refl |]. simpl.
  pose proof (power_pos n H). unfold power in *; nra. Qed.

(** Bernoulli. *)
Lemma power_small t n : (0 < t)%Q -> (t < 1)%Q -> (power (1 - t) n * (1 + inject_Z (Z.of_nat n) * t) <= 1)%Q.
Proof.
  intros H K; induction n as [| n IH].
  - simpl; unfold power; simpl. change (inject_Z 0) with 0%Q. lra.
  - assert (P : (0 < power (1 - t) n)%Q) by (apply power_pos; lra).
    rewrite Nat2Z.inj_succ; unfold Z.succ; rewrite inject_Z_plus. change (inject_Z 1) with 1%Q.
    set (m := inject_Z (Z.of_nat n)) in *. assert (M : (0 <= m)%Q) by (unfold m; change 0%Q with (inject_Z 0); rewrite <- Zle_Qle; lia).
    change (power (1 - t) (S n)) with ((1 - t) * power (1 - t) n)%Q. set (p := power (1 - t) n) in *.
    assert (E : ((1 - t) * p * (1 + (m + 1) * t) == p * (1 + m * t) - p * (m * t * t + t * t))%Q) by ring.
    rewrite E. assert (0 <= p * (m * t * t + t * t))%Q; [| lra].
    assert (0 <= t * t)%Q by nra. assert (0 <= m * t * t)%Q by nra. nra.
Qed.

Lemma power_vanishes t b r : (0 < t)%Q -> (t < 1)%Q -> (0 < r)%Q -> exists n, (power (1 - t) n * b <= r)%Q.
Proof.
  intros H K R. destruct (Qlt_le_dec 0 b) as [B | B].
  - set (n := Z.to_nat (Z.max 0 (Z.succ (Qfloor (b / (r * t)))))). exists n.
    pose proof (@power_small t n H K) as P.
    assert (N : (b / (r * t) <= inject_Z (Z.of_nat n))%Q).
    { unfold n; rewrite Z2Nat.id by lia. apply Qle_trans with (inject_Z (Qfloor (b / (r * t)) + 1)).
      - apply Qlt_le_weak, Qlt_floor.
      - rewrite <- Zle_Qle; lia. }
    assert (RT : (0 < r * t)%Q) by nra.
    assert (N' : (b <= inject_Z (Z.of_nat n) * (r * t))%Q).
    { apply Qle_trans with (b / (r * t) * (r * t))%Q; [| nra]. setoid_replace (b / (r * t) * (r * t))%Q with b by (field; split; lra); lra. }
    assert (P0 : (0 < power (1 - t) n)%Q) by (apply power_pos; lra).
    set (p := power (1 - t) n) in *; set (m := inject_Z (Z.of_nat n)) in *.
    assert (X : (p * b <= p * (m * (r * t)))%Q) by nra.
    assert (Y : (p * (m * (r * t)) == r * (p * (1 + m * t)) - r * p)%Q) by ring.
    rewrite Y in X. nra.
  - exists O; simpl; unfold power; simpl; lra.
Qed.

Arguments power : simpl never.

Section Soundness.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable vec : positive -> list (positive * Q).
Variable z : positive -> Q.
Variable far : positive -> nat.
Variable nodes : list positive.
Variable edges : positive -> option (list (positive * (Q * positive))).
Hypothesis nodes_ok : forall v, In v nodes -> lower_node C vec z far nodes v (edges v).

(** What is gained after k rounds, if everything is taken or left then. *)
Fixpoint rounds (k : nat) (v : positive) : Q :=
  match k, edges v with
  | S k', Some l => follow (rounds k') (map snd l)
  | _, _ => at_least_nothing (total (vec v))
  end.

Lemma follow_le f g l : (forall x w, In (x, w) l -> (0 <= x)%Q /\ (f w <= g w)%Q) -> (follow f l <= follow g l)%Q.
Proof. induction l as [| [x w] l IH]; simpl; intro H; [apply Qle_refl |]. rewrite !Qred_correct.
  destruct (H x w (or_introl eq_refl)) as [X W]. apply Qplus_le_compat; [nra | apply IH; intros; apply H; now right]. Qed.

Lemma follow_add f g l : (follow (fun w => f w + g w) l == follow f l + follow g l)%Q.
Proof. induction l as [| [x w] l IH]; simpl; [ring |]. rewrite !Qred_correct, IH; ring. Qed.

Lemma follow_mul f (b : Q) l : (follow (fun w => b * f w) l == b * follow f l)%Q.
Proof. induction l as [| [x w] l IH]; simpl; [ring |]. rewrite !Qred_correct, IH; ring. Qed.

(** A weight that falls at every node: ||c|| (1 - t^(1 + far)). *)
Lemma falling_weight : exists x t, (0 < t)%Q /\ (t < 1)%Q /\ (forall v, In v nodes -> (0 < x v)%Q) /\
  forall v l, In v nodes -> edges v = Some l -> (follow x (map snd l) <= (1 - t) * x v)%Q.
Proof.
  set (m v := mass (vec v)).
  (* t, small at every node *)
  set (gaps v := match edges v with
     | None => []
     | Some l => (if Qlt_le_dec (follow m (map snd l)) (m v) then [(m v, m v - follow m (map snd l))] else [])
         ++ map (fun e : Q * positive => (m v, fst e * m (snd e))) (map snd l)
     end%Q).
  destruct (small_enough (l := flat_map gaps nodes)) as (t & T0 & T1 & T).
  { intros x y I; apply in_flat_map in I; destruct I as (v & Hv & I); unfold gaps in I.
    destruct (nodes_ok Hv) as (_ & M0 & E). destruct (edges v) as [l |]; [| easy].
    destruct E as (_ & _ & Pos & _). apply in_app_iff in I; destruct I as [I | I].
    - destruct (Qlt_le_dec _ _); [destruct I as [I | []]; injection I as <- <-; lra | easy].
    - apply in_map_iff in I; destruct I as ([f w] & E & I); injection E as <- <-. destruct (Pos f w I) as [F0 Hw].
      destruct (nodes_ok Hw) as (_ & W0 & _). unfold m; simpl; nra. }
  set (x v := (m v * (1 - power t (S (far v))))%Q).
  assert (Power1 : forall n, (0 < power t (S n) <= t)%Q).
  { intro n; split; [now apply power_pos |]. apply Qle_trans with (power t 1); [apply power_mono; auto; lia |].
    unfold power; simpl; lra. }
  assert (X0 : forall v, In v nodes -> (0 < x v)%Q).
  { intros v Hv; unfold x. destruct (nodes_ok Hv) as (_ & M0 & _). pose proof (Power1 (far v)); fold (m v) in M0; nra. }
  assert (Strict : forall v l, In v nodes -> edges v = Some l -> (follow x (map snd l) < x v)%Q).
  { intros v l Hv E. destruct (nodes_ok Hv) as (_ & M0 & K). rewrite E in K.
    destruct K as (_ & _ & Pos & _ & Le & Why). fold (m v) in M0, Le, Why.
    change (follow (fun w => mass (vec w)) (map snd l)) with (follow m (map snd l)) in *.
    assert (In_gaps : forall g, In g (gaps v) -> In g (flat_map gaps nodes)) by (intros g I; apply in_flat_map; eauto).
    assert (Xm : forall w, In w nodes -> (x w <= m w)%Q).
    { intros w Hw; unfold x. destruct (nodes_ok Hw) as (_ & W0 & _). pose proof (Power1 (far w)); fold (m w) in W0; nra. }
    destruct Why as [Lost | (f & w & I & Far)].
    - assert (G : (t * m v < m v - follow m (map snd l))%Q).
      { apply T, In_gaps; unfold gaps; rewrite E. destruct (Qlt_le_dec _ _); [now left | lra]. }
      assert (A : (follow x (map snd l) <= follow m (map snd l))%Q).
      { apply follow_le; intros f w I. destruct (Pos f w I); split; [lra | auto]. }
      unfold x at 2. pose proof (Power1 (far v)); nra.
    - assert (G : (t * m v < f * m w)%Q).
      { apply T, In_gaps; unfold gaps; rewrite E. apply in_app_iff; right.
        apply in_map_iff; exists (f, w); split; [reflexivity | assumption]. }
      assert (A : (follow x (map snd l) <= follow m (map snd l) - f * (m w * power t (S (far w))))%Q).
      { clear - I Pos Xm X0. revert I Pos; generalize (map snd l); induction l0 as [| [g u] l0 IH]; intros I Pos; [easy |].
        simpl; rewrite !Qred_correct. destruct I as [I | I].
        - injection I as -> ->. assert (follow x l0 <= follow m l0)%Q.
          { apply follow_le; intros f' w' I'. destruct (Pos f' w' (or_intror I')); split; [lra | auto]. }
          unfold x at 1. assert (f * (m w * (1 - power t (S (far w)))) == f * m w - f * (m w * power t (S (far w))))%Q by ring. lra.
        - assert (B := IH I (fun f' w' I' => Pos f' w' (or_intror I'))).
          destruct (Pos g u (or_introl eq_refl)) as [G0 Hu]. assert (g * x u <= g * m u)%Q by (pose proof (Xm u Hu); nra). lra. }
      assert (P : (power t (S (far v)) <= t * power t (S (far w)))%Q).
      { change (t * power t (S (far w)))%Q with (power t (S (S (far w)))). apply power_mono; auto; lia. }
      unfold x at 2. pose proof (Power1 (far w)). pose proof (Power1 (far v)).
      assert (m v * power t (S (far v)) <= (t * m v) * power t (S (far w)))%Q by nra.
      assert ((t * m v) * power t (S (far w)) < (f * m w) * power t (S (far w)))%Q by nra.
      nra. }
  destruct (small_enough (l := flat_map (fun v => match edges v with
      | None => [] | Some l => [(x v, x v - follow x (map snd l))] end%Q) nodes)) as (s & S0 & S1 & S).
  { intros a b I; apply in_flat_map in I; destruct I as (v & Hv & I).
    destruct (edges v) as [l |] eqn:E; [| easy]. destruct I as [I | []]; injection I as <- <-. specialize (Strict v l Hv E); lra. }
  exists x, s; repeat split; try assumption. intros v l Hv E.
  assert (K : (s * x v < x v - follow x (map snd l))%Q).
  { apply S, in_flat_map. exists v; split; [assumption |]. rewrite E; now left. }
  lra.
Qed.

Lemma rounds_approach : exists b, forall t' : Q, (0 < t')%Q -> exists k, forall v, In v nodes -> (z v <= rounds k v + t' * b v)%Q.
Proof.
  destruct falling_weight as (x & t & T0 & T1 & X0 & Fall). exists x; intros r R.
  (* at first *)
  assert (Start : exists A, (0 <= A)%Q /\ forall v, In v nodes -> (z v <= rounds 0 v + A * x v)%Q).
  { clear - X0. induction nodes as [| v l IH]; [exists 0%Q; split; [lra | easy] |].
    destruct IH as (A & A0 & H); [intros; apply X0; now right |].
    set (B := Qabs ((z v - rounds 0 v) / x v)). assert (B0 : (0 <= B)%Q) by apply Qabs_nonneg.
    exists (A + B)%Q; split; [lra |]. intros w [<- | I].
    - assert (Xv : (0 < x v)%Q) by (apply X0; now left).
      assert (K : (z v - rounds 0 v <= B * x v)%Q).
      { setoid_replace (z v - rounds 0 v)%Q with ((z v - rounds 0 v) / x v * x v)%Q by (field; lra).
        pose proof (Qle_Qabs ((z v - rounds 0 v) / x v)). fold B in H0. nra. }
      nra.
    - specialize (H w I). assert (0 < x w)%Q by (apply X0; now right). nra. }
  destruct Start as (A & A0 & Start).
  assert (Step : forall k v, In v nodes -> (z v <= rounds k v + power (1 - t) k * A * x v)%Q).
  { induction k as [| k IH]; intros v Hv.
    - specialize (Start v Hv). unfold power; simpl in *. lra.
    - destruct (nodes_ok Hv) as (_ & _ & K). destruct (edges v) as [l |] eqn:E.
      + pose proof K as (_ & _ & Pos & Z & _). simpl; rewrite E.
        assert (P0 : (0 < power (1 - t) k)%Q) by (apply power_pos; lra).
        assert (Y : (follow z (map snd l) <= follow (rounds k) (map snd l) + power (1 - t) k * A * follow x (map snd l))%Q).
        { rewrite <- follow_mul, <- follow_add. apply follow_le; intros f w I. destruct (Pos f w I); split; [lra | auto]. }
        specialize (Fall v l Hv E).
        change (power (1 - t) (S k)) with ((1 - t) * power (1 - t) k)%Q.
        assert (PA : (0 <= power (1 - t) k * A)%Q) by nra. nra.
      + simpl; rewrite E. assert (0 < power (1 - t) (S k))%Q by (apply power_pos; lra).
        change (Nat.iter k (Qmult (1 - t)) 1%Q) with (power (1 - t) k) in *.
        assert (0 <= power (1 - t) (S k) * A)%Q by nra. pose proof (X0 v Hv). nra. }
  destruct (power_vanishes A T0 T1 R) as [k K]. exists k; intros v Hv. specialize (Step k v Hv).
  pose proof (X0 v Hv). nra.
Qed.

Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

(** What is gained after k rounds is gained by an event of k + 1 labels. *)
Lemma rounds_attained : forall k v, In v nodes -> exists E, gains F C (vec v) (S k) E = ofQ (rounds k v).
Proof.
  assert (Stop : forall n v, In v nodes -> exists E, gains F C (vec v) n E = ofQ (at_least_nothing (total (vec v)))).
  { intros n v Hv; destruct (nodes_ok Hv) as (K & _). unfold at_least_nothing.
    destruct (Qle_bool 0 (total (vec v))); [exists (fun _ => true) | exists (fun _ => false)];
      rewrite (gains_const F C_ok n _ K); [reflexivity | now rewrite ofQ_0]. }
  induction k as [| k IH]; intros v Hv; [now apply Stop |].
  destruct (nodes_ok Hv) as (_ & _ & K). simpl rounds. destruct (edges v) as [l |] eqn:E; [| now apply Stop].
  destruct K as (St & (Nd & Lab) & Pos & _).
  (* one event for each label *)
  assert (Choice : exists ev : positive -> list positive -> bool, forall a x w, In (a, (x, w)) l ->
    gains F C (vec w) (S k) (ev a) = ofQ (rounds k w)).
  { clear - IH Nd Pos. induction l as [| [a [x w]] l IHl]; [exists (fun _ _ => true); easy |].
    inversion Nd as [| ? ? Na Nd']; subst. destruct IHl as (ev & H); [assumption | intros x' w' I; apply (Pos x' w'); now right |].
    destruct (IH w) as [e He]; [apply (Pos x w); now left |].
    exists (fun b => if Pos.eqb b a then e else ev b). intros b x' w' [I | I].
    - injection I as <- <- <-. now rewrite Pos.eqb_refl.
    - destruct (Pos.eqb b a) eqn:B; [| now apply (H b x' w')].
      apply Pos.eqb_eq in B; subst. exfalso; apply Na. apply in_map_iff. now exists (a, (x', w')). }
  destruct Choice as (ev & Ev).
  set (G := fun word => match word with _ :: (a :: rest) => ev a (a :: rest) | _ => true end : bool).
  exists G. destruct (gains_step F (S k) G St) as (lab & _ & ->).
  assert (Eq : forall a x w, In (a, (x, w)) l -> gains F C (vec w) (S k) (fun word => G (lab :: word)) = ofQ (rounds k w)).
  { intros a x w I. rewrite <- (Ev a x w I). unfold gains. apply eval_ext. intros i q J.
    simpl. apply eval_ext; intros t p _. apply pr_ext; intro word; simpl. now rewrite (Lab a x w I i q J). }
  clearbody G; clear - Eq. induction l as [| [a [x w]] l IHl]; simpl; [now rewrite ofQ_0 |].
  rewrite (ofQ_eq F (Qred_correct _)), ofQ_add, ofQ_mul, <- IHl by (intros; eapply Eq; right; eassumption).
  change (snd (x, w)) with w. rewrite (Eq a x w (or_introl eq_refl)). reflexivity.
Qed.

(** Theorem 2 of docs/theory/delta.md. Events come as close to the bound as one likes. *)
Theorem graph_bounds_from_below v : In v nodes -> forall r, (0 < r)%Q ->
  exists n E, ofQ (z v - r) <= gains F C (vec v) n E.
Proof.
  intros Hv r R. destruct rounds_approach as (x & H).
  assert (K : exists k, (z v - r <= rounds k v)%Q).
  { set (b := (Qabs (x v) + 1)%Q). assert (B : (0 < b)%Q) by (unfold b; pose proof (Qabs_nonneg (x v)); lra).
    assert (RB : (0 < r / b)%Q) by (apply Qlt_shift_div_l; lra).
    destruct (H (r / b)%Q RB) as [k Hk]. exists k. specialize (Hk v Hv).
    assert (E : (r / b * b == r)%Q) by (field; lra).
    assert (Xb : (x v <= b)%Q) by (unfold b; pose proof (Qle_Qabs (x v)); lra).
    assert (r / b * x v <= r / b * b)%Q by nra. lra. }
  destruct K as [k Hk]. destruct (rounds_attained k Hv) as [E HE].
  exists (S k), E. rewrite HE. now apply ofQ_le.
Qed.
End Soundness.

(** * Mechanisms with finite laws, and what is known of one run and of many (rules O1, O3, O5 of docs/certificates/composition.md) *)

From Coq Require Import ZArith NArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Accountant AccountantNumbers CheckCompositionGrid.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** Randomised response: the chances of the true answer and of any other one. What is (epsilon, delta)-private. *)
Inductive mechanism := Response (truth lie : Q) | Private (epsilon delta : Q).

Definition mechanism_ok (m : mechanism) : bool := match m with
  | Response t l => negb (Qle_bool l 0) && Qle_bool l t && Qle_bool (t + l) 1
  | Private e d => Qle_bool 0 e && Qle_bool 0 d && negb (Qle_bool 1 d)
  end.

(** Some outputs of a law together: their masses, their common loss if it is rational, or else a guess at the loss of the one output. *)
Record atom := { p_low : Q; p_high : Q; q_low : Q; q_high : Q; loss : option Q; guess : Q }.

(* Masses are rounded outwards, as those of all other laws are. *)
Definition closely (s : positive) (p q : Q) (l : option Q) (g : Q) : atom := {| p_low := down s p; p_high := up s p; q_low := down s q; q_high := up s q; loss := l; guess := g |}.

Definition sure_of (m : mechanism) : Q := match m with Response _ _ => 0 | Private _ d => d end.

(* The guess at a logarithm comes from code without proof. *)
Definition atoms_of (log : Q -> Q) (n : precision) (m : mechanism) : list atom := match m with
  | Response t l =>
    let s := kept n in
    if Qeq_bool t l then
      let low := (down s t + down s (1 - t - l) + down s l)%Q in
      let high := (up s t + up s (1 - t - l) + up s l)%Q in
      [{| p_low := low; p_high := high; q_low := low; q_high := high; loss := Some 0%Q; guess := 0 |}]
    else let g := log (t / l)%Q in [closely s t l None g; closely s (1 - t - l) (1 - t - l) (Some 0) 0; closely s l t None (- g)]%Q
  | Private e d =>
    if Qeq_bool e 0 then [closely (kept n) (1 - d) (1 - d) (Some 0) 0]%Q
    else
      let least := ((1 - d) / (1 + exp_high n (- e)))%Q in
      let most := ((1 - d) / (1 + exp_low n (- e)))%Q in
      [{| p_low := 1 - d - most; p_high := 1 - d - least; q_low := least; q_high := most; loss := Some (- e); guess := 0 |};
       {| p_low := least; p_high := most; q_low := 1 - d - most; q_high := 1 - d - least; loss := Some e; guess := 0 |}]%Q
  end.

(** Between which places of a grid the loss lies. *)
Definition place (n : precision) (g : Q) (a : atom) : option (Z * Z) := match loss a with
  | Some x => let k := floor_of (x / g) in Some (if Qeq_bool (g * inject_Z k) x then (k, k) else (k, (k + 1)%Z))
  | None => let k := floor_of (guess a / g) in
    if Qle_bool (exp_high n (g * inject_Z k) * q_high a) (p_low a) && Qle_bool (p_high a) (exp_low n (g * inject_Z (k + 1)) * q_low a)
    then Some (k, (k + 1)%Z) else None
  end.

Fixpoint add_at (i : nat) (n : Z) (l : list Z) : list Z := match i, l with
  | _, [] => []
  | O, x :: l' => (x + n)%Z :: l'
  | S i', x :: l' => x :: add_at i' n l'
  end.

Definition above0 (x : Q) : Q := if Qle_bool 0 x then x else 0.

(** One more atom in what is known of one run, on a window. *)
Definition put (u : units) (hi : Z) (k : known) (a : atom) : option known :=
  let n := numbers u in
  let g := grid u k in
  let lo := low k in
  let factor := inject_Z (unit u) in
  let growth := fun z => exp_high n (rate u k * inject_Z z - kappa u k) in
  let entry := fun m z => ceiling_of (m * (factor * growth z)) in
  let at_ := fun z => Z.to_nat (z - lo) in
  match place n g a with
  | None => None
  | Some (first, last) =>
    let labelled := (Z.leb lo first && Z.leb first hi)%bool in
    let p := if labelled then add_at (at_ first) (floor_of (p_low a * (factor * exp_low n (rate u k * inject_Z first - kappa u k)))) (p_labels k) else p_labels k in
    let q := if labelled then add_at (at_ first) (ceiling_of (q_high a * (factor * (growth first * exp_high n (g * inject_Z first))))) (q_labels k) else q_labels k in
    let made := fun above excess => Some {| level := level k; low := lo; above := above; excess := excess; p_labels := p; q_labels := q; sure := sure k; copies := copies k |} in
    if Z.ltb hi last then made (above k) (excess k + p_high a)
    else if (Z.ltb first lo || Z.eqb first last)%bool then
      let z := Z.max last lo in made (add_at (at_ z) (entry (p_high a) z) (above k)) (excess k)
    else
      let most := exp_high n (- g) in
      let least := exp_low n (- g) in
      let v_high := ((p_high a - exp_low n (g * inject_Z first) * q_low a) / (1 - most))%Q in
      let v_low := (above0 (p_low a - exp_high n (g * inject_Z first) * q_high a) / (1 - least))%Q in
      if Qle_bool 1 most then None
      else made (add_at (at_ first) (entry (p_high a - v_low)%Q first) (add_at (at_ last) (entry v_high last) (above k))) (excess k)
  end.

Fixpoint put_all (u : units) (hi : Z) (k : known) (l : list atom) : option known := match l with
  | [] => Some k
  | a :: l' => match put u hi k a with None => None | Some k' => put_all u hi k' l' end
  end.

Fixpoint one_hot (n i : nat) : list N := match n, i with
  | O, _ => []
  | S n', O => 1%N :: repeat 0%N n'
  | S n', S i' => 0%N :: one_hot n' i'
  end.

(** What is known of one run of a mechanism (rule O3). *)
Definition cells (log : Q -> Q) (u : units) (labels : bool) (mechanisms : list mechanism) (i lev : nat) (lo hi : Z) : option known :=
  if Z.ltb hi lo then None else
  match nth_error mechanisms i with
  | None => None
  | Some m =>
    let zeros := repeat 0%Z (Z.to_nat (hi - lo + 1)) in
    let start := {| level := lev; low := lo; above := zeros; excess := 0; p_labels := zeros; q_labels := zeros; sure := 0; copies := one_hot (length mechanisms) i |} in
    match put_all u hi start (atoms_of log (numbers u) m) with
    | None => None
    | Some k =>
      window u {| level := lev; low := lo; above := above k; excess := excess k + sure_of m; p_labels := if labels then p_labels k else [];
                  q_labels := if labels then q_labels k else []; sure := if labels then down (kept (numbers u)) (sure_of m) else 0; copies := copies k |} lo hi
    end
  end.

Section Sound.
Variable F : OrderedField.
Add Field F_field5 : (field_ok F).
Local Open Scope field_scope.
Variable E : Q -> F.
Hypothesis E_ok : exponential E.
Notation z_ := (ofZ F).

(** The law of a mechanism: masses of outputs on both inputs. All answers but two are as likely on both. *)
Definition inner (m : mechanism) : law F := match m with
  | Response t l => [(ofQ t, ofQ l); (ofQ (1 - t - l), ofQ (1 - t - l)); (ofQ l, ofQ t)]
  | Private e d => let x := ofQ (1 - d) / (1 + E (- e)%Q) in [(x * E (- e)%Q, x); (x, x * E (- e)%Q)]
  end.
Definition beyond (m : mechanism) : law F := match m with Response _ _ => [] | Private _ d => [(ofQ d, 0); (0, ofQ d)] end.
Definition law_of (m : mechanism) : law F := inner m ++ beyond m.

Definition atom_ok (a : atom) (l : law F) :=
  good l /\ (0 <= p_low a)%Q /\ (0 <= q_low a)%Q /\ ofQ (p_low a) <= mass l <= ofQ (p_high a) /\ ofQ (q_low a) <= sum l snd <= ofQ (q_high a) /\
  match loss a with Some x => forall p q, In (p, q) l -> p = E x * q | None => exists p q, l = [(p, q)] end.

Lemma qle_false a b : Qle_bool a b = false -> (b < a)%Q.
Proof. intro H. apply Qnot_le_lt. intro L. apply Qle_bool_iff in L. congruence. Qed.

Lemma mechanism_range m : mechanism_ok m = true -> match m with Response t l => (0 < l /\ l <= t /\ t + l <= 1)%Q | Private e d => (0 <= e /\ 0 <= d /\ d < 1)%Q end.
Proof.
  destruct m; simpl; intro H; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  - apply negb_true_iff, qle_false in H1. apply Qle_bool_iff in H2, H3. auto.
  - apply negb_true_iff, qle_false in H3. apply Qle_bool_iff in H1, H2. auto. Qed.

Lemma share_pos e d : (d < 1)%Q -> 0 < ofQ (1 - d) / (1 + E (- e)%Q).
Proof.
  intro D. assert (P : 0 < 1 + E (- e)%Q) by (apply add_gt0; [apply one_gt0 | now apply exp_ge0]).
  replace (ofQ (1 - d) / (1 + E (- e)%Q)) with (ofQ (1 - d) * inv (1 + E (- e)%Q)) by (field; now apply lt_neq).
  apply mul_gt0; [apply ofQ_gt0; lra | now apply inv_gt0]. Qed.

Lemma law_good m : mechanism_ok m = true -> good (law_of m).
Proof.
  intro H. apply mechanism_range in H. unfold law_of. destruct m as [t l | e d]; simpl in *.
  - intros p q I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-; split; apply ofQ_ge0; lra.
  - pose proof (lt_le (@share_pos e d (proj2 (proj2 H)))) as X. pose proof (exp_ge0 E_ok (- e)%Q) as Y. assert (D : 0 <= (ofQ d : F)) by (apply ofQ_ge0; lra).
    pose proof (le_refl (0 : F)).
    intros p q I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-; split; try apply le_mul; assumption. Qed.

Lemma law_whole m : mechanism_ok m = true -> mass (law_of m) = 1.
Proof.
  intro H. apply mechanism_range in H. unfold law_of, mass. destruct m as [t l | e d]; simpl in *.
  - rewrite !ofQ_sub, ofQ_1. ring.
  - rewrite ofQ_sub, ofQ_1. assert (P : 1 + E (- e)%Q <> 0) by (apply lt_neq, add_gt0; [apply one_gt0 | now apply exp_ge0]). field. assumption. Qed.

Theorem atoms_ok log n m : mechanism_ok m = true -> exists ls, Forall2 atom_ok (atoms_of log n m) ls /\ concat ls = inner m.
Proof.
  intro H. pose proof (law_good H) as G. apply mechanism_range in H. destruct m as [t l | e d]; cbn [atoms_of inner].
  - destruct (Qeq_bool t l) eqn:Eq.
    + apply Qeq_bool_iff in Eq. exists [inner (Response t l)]. split; [apply Forall2_cons; [| apply Forall2_nil] | cbn [concat]; now rewrite app_nil_r].
      unfold atom_ok, mass; cbn [p_low p_high q_low q_high loss]. split; [intros p q I; apply G; unfold law_of; apply in_app_iff; now left |].
      set (s := kept n). pose proof (@down_ge0 s t ltac:(lra)). pose proof (@down_ge0 s l ltac:(lra)). pose proof (@down_ge0 s (1 - t - l) ltac:(lra)).
      pose proof (down_le s t). pose proof (down_le s l). pose proof (down_le s (1 - t - l)). pose proof (le_up s t). pose proof (le_up s l). pose proof (le_up s (1 - t - l)).
      split; [lra |]. split; [lra |]. cbn [inner sum fst snd].
      assert (S1 : (ofQ t : F) + (ofQ (1 - t - l) + (ofQ l + 0)) = ofQ 1) by (rewrite !ofQ_sub, ofQ_1; ring). rewrite S1.
      assert (S2 : (ofQ l : F) + (ofQ (1 - t - l) + (ofQ t + 0)) = ofQ 1) by (rewrite !ofQ_sub, ofQ_1; ring). rewrite S2.
      split; [split; apply ofQ_le; lra |]. split; [split; apply ofQ_le; lra |]. pose proof (ofQ_eq F Eq) as Et. rewrite (exp_0 E_ok).
      intros p q I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-; rewrite ?Et; ring.
    + exists [[(ofQ t, ofQ l)]; [(ofQ (1 - t - l), ofQ (1 - t - l))]; [(ofQ l, ofQ t)]]. split; [| reflexivity].
      assert (One : forall (p q : Q) o g, (0 <= p)%Q -> (0 <= q)%Q -> match o with Some x => ofQ p = E x * ofQ q | None => True end -> atom_ok (closely (kept n) p q o g) [(ofQ p, ofQ q)]).
      { intros p q o g P Q0 O. unfold atom_ok, closely, mass; cbn [p_low p_high q_low q_high loss sum fst snd].
        assert (Z : forall x : F, x + 0 = x) by (intro; ring). rewrite !Z.
        split; [intros a b [I | []]; injection I as <- <-; split; now apply ofQ_ge0 |]. split; [now apply down_ge0 |]. split; [now apply down_ge0 |]. do 2 (split; [split; apply ofQ_le; apply down_le || apply le_up |]).
        destruct o; [intros a b [I | []]; now injection I as <- <- | now exists (ofQ p), (ofQ q)]. }
      apply Forall2_cons; [| apply Forall2_cons; [| apply Forall2_cons; [| apply Forall2_nil]]]; apply One; try lra; try exact I. rewrite (exp_0 E_ok). ring.
  - destruct H as (E0 & D0 & D1). pose proof (@share_pos e d D1) as X0. set (x := ofQ (1 - d) / (1 + E (- e)%Q)) in *. pose proof (exp_ge0 E_ok (- e)%Q) as Y0. set (y := E (- e)%Q) in *.
    assert (Px : x * (1 + y) = ofQ (1 - d)) by (unfold x; field; apply lt_neq, add_gt0; [apply one_gt0 | assumption]).
    pose proof (lt_le X0) as X1. destruct (Qeq_bool e 0) eqn:Eq.
    + apply Qeq_bool_iff in Eq. exists [inner (Private e d)]. split; [apply Forall2_cons; [| apply Forall2_nil] | cbn [concat]; now rewrite app_nil_r].
      unfold atom_ok, closely, mass; cbn [p_low p_high q_low q_high loss]. split; [intros p q I; apply G; unfold law_of; apply in_app_iff; now left |].
      split; [apply down_ge0; lra |]. split; [apply down_ge0; lra |]. cbn [inner sum fst snd]. fold y. fold x.
      assert (S1 : x * y + (x + 0) = ofQ (1 - d)) by (rewrite <- Px; ring). assert (S2 : x + (x * y + 0) = ofQ (1 - d)) by (rewrite <- Px; ring). rewrite S1, S2.
      do 2 (split; [split; apply ofQ_le; apply down_le || apply le_up |]). assert (Y1 : y = 1) by (unfold y; rewrite (exp_eq E_ok (y := 0%Q)) by (rewrite Eq; ring); apply (exp_0 E_ok)).
      rewrite (exp_0 E_ok). intros p q I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-; rewrite Y1; ring.
    + destruct (exp_low_ok E_ok n (- e)) as [L0 L1]. pose proof (exp_high_ok E_ok n (- e)) as M1. pose proof (@exp_high_ge0 F E E_ok n (- e)) as M0.
      set (lo := exp_low n (- e)) in *. set (hi := exp_high n (- e)) in *. fold y in L1, M1. set (least := ((1 - d) / (1 + hi))%Q). set (most := ((1 - d) / (1 + lo))%Q).
      assert (Least : ofQ least <= x).
      { apply cut_by with (ofQ (1 + hi)); [apply ofQ_gt0; lra |]. rewrite <- ofQ_mul, (@ofQ_eq F ((1 + hi) * least) (1 - d)) by (unfold least; field; intro; lra). rewrite <- Px, ofQ_add, ofQ_1.
        apply le_by with (x * (ofQ hi - y)); [ring | apply le_mul; [assumption | now apply sub_ge0]]. }
      assert (Most : x <= ofQ most).
      { apply cut_by with (ofQ (1 + lo)); [apply ofQ_gt0; lra |]. rewrite <- ofQ_mul, (@ofQ_eq F ((1 + lo) * most) (1 - d)) by (unfold most; field; intro; lra). rewrite <- Px, ofQ_add, ofQ_1.
        apply le_by with (x * (y - ofQ lo)); [ring | apply le_mul; [assumption | now apply sub_ge0]]. }
      assert (Least0 : (0 <= least)%Q) by (unfold least, Qdiv; assert (0 <= / (1 + hi))%Q by (apply Qlt_le_weak, Qinv_lt_0_compat; lra); nra).
      assert (Most1 : (0 <= 1 - d - most)%Q).
      { assert (most <= 1 - d)%Q; [| lra]. unfold most. apply Qle_shift_div_r; [lra |]. nra. }
      assert (Rest : x * y = ofQ (1 - d) - x) by (rewrite <- Px; ring).
      assert (R1 : ofQ (1 - d - most) <= x * y) by (rewrite Rest, ofQ_sub; apply le_by with (ofQ most - x); [ring | now apply sub_ge0]).
      assert (R2 : x * y <= ofQ (1 - d - least)) by (rewrite Rest, (ofQ_sub F (1 - d) least); apply le_by with (x - ofQ least); [ring | now apply sub_ge0]).
      exists [[(x * y, x)]; [(x, x * y)]]. split; [| reflexivity].
      assert (Z : forall a : F, a + 0 = a) by (intro; ring).
      apply Forall2_cons; [| apply Forall2_cons; [| apply Forall2_nil]]; unfold atom_ok, mass; cbn [p_low p_high q_low q_high loss sum fst snd]; rewrite !Z.
      * split; [intros a b [I | []]; injection I as <- <-; split; [now apply le_mul | assumption] |]. repeat split; try assumption.
        intros a b [I | []]. injection I as <- <-. fold y. ring.
      * split; [intros a b [I | []]; injection I as <- <-; split; [assumption | now apply le_mul] |]. repeat split; try assumption.
        intros a b [I | []]. injection I as <- <-. replace (E e * (x * y)) with (x * (E e * E (- e)%Q)) by (unfold y; ring). rewrite (exp_inverse E_ok). ring. Qed.

Theorem place_ok n g a l first last : (0 < g)%Q -> atom_ok a l -> place n g a = Some (first, last) -> (first <= last <= first + 1)%Z /\
  forall p q, In (p, q) l -> E (g * inject_Z first)%Q * q <= p /\ p <= E (g * inject_Z last)%Q * q.
Proof.
  intros G (Gl & P0 & Q0 & [P1 P2] & [Q1 Q2] & L) H. unfold place in H. destruct (loss a) as [x |].
  - set (k := floor_of (x / g)) in *. pose proof (floor_le (x / g)) as F1. pose proof (floor_next (x / g)) as F2. fold k in F1, F2.
    assert (G1 : (g * inject_Z k <= x)%Q) by (apply (Qmult_le_l _ _ g G) in F1; setoid_replace (g * (x / g))%Q with x in F1 by (field; lra); lra).
    assert (G2 : (x <= g * inject_Z (k + 1))%Q) by (apply (Qmult_le_l _ _ g G) in F2; setoid_replace (g * (x / g))%Q with x in F2 by (field; lra); lra).
    assert (K : forall y z : Q, (y <= x)%Q -> (x <= z)%Q -> forall p q, In (p, q) l -> E y * q <= p /\ p <= E z * q).
    { intros y z Y Z p q I. destruct (Gl p q I) as [_ Qq]. rewrite (L p q I). split.
      - apply le_by with ((E x - E y) * q); [ring |]. apply le_mul; [apply sub_ge0; now apply exp_mono | assumption].
      - apply le_by with ((E z - E x) * q); [ring |]. apply le_mul; [apply sub_ge0; now apply exp_mono | assumption]. }
    destruct (Qeq_bool (g * inject_Z k) x) eqn:Eq; injection H as <- <-; (split; [lia |]); apply K; try lra. apply Qeq_bool_iff in Eq. lra.
  - set (k := floor_of (guess a / g)) in *. match goal with H : (if ?c then _ else _) = _ |- _ => destruct c eqn:C; [| discriminate] end.
    injection H as <- <-. apply andb_prop in C as [C1 C2]. apply Qle_bool_iff in C1, C2. split; [lia |]. destruct L as (p & q & ->). intros p' q' [I | []]. injection I as <- <-.
    destruct (Gl p q (or_introl eq_refl)) as [P Q']. unfold mass in *. simpl in P1, P2, Q1, Q2. replace (p + 0) with p in * by ring. replace (q + 0) with q in * by ring.
    apply (@ofQ_le F) in C1, C2. rewrite ofQ_mul in C1, C2. split.
    + apply le_trans with (ofQ (exp_high n (g * inject_Z k)) * ofQ (q_high a)); [| eapply le_trans; [exact C1 | assumption]].
      pose proof (exp_high_ok E_ok n (g * inject_Z k)) as X. pose proof (exp_ge0 E_ok (g * inject_Z k)%Q) as X0. set (y := E (g * inject_Z k)%Q) in *. set (yh := ofQ (exp_high n (g * inject_Z k)) : F) in *.
      apply le_by with ((yh - y) * q + yh * (ofQ (q_high a) - q)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); [assumption |]. now apply le_trans with y.
    + apply le_trans with (ofQ (exp_low n (g * inject_Z (k + 1))) * ofQ (q_low a)); [eapply le_trans; [| exact C2]; assumption |].
      destruct (exp_low_ok E_ok n (g * inject_Z (k + 1))) as [X0 X]. pose proof (exp_ge0 E_ok (g * inject_Z (k + 1))%Q) as X1. set (y := E (g * inject_Z (k + 1))%Q) in *. set (yl := exp_low n (g * inject_Z (k + 1))) in *.
      apply le_by with ((y - ofQ yl) * ofQ (q_low a) + y * (q - ofQ (q_low a))); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); [now apply ofQ_ge0 | assumption]. Qed.

(** ** One run *)
Lemma length_add_at i : forall n l, length (add_at i n l) = length l.
Proof. induction i as [| i IH]; intros n [| x l]; simpl; auto. Qed.

Lemma value_add_at (h : Z -> F) i : forall n l lo, (i < length l)%nat -> value h lo (add_at i n l) = value h lo l + z_ n * h (lo + Z.of_nat i)%Z.
Proof.
  induction i as [| i IH]; intros n [| x l] lo L; simpl in L; try lia; cbn [add_at value].
  - rewrite ofZ_add. replace (lo + Z.of_nat 0)%Z with lo by lia. ring.
  - rewrite IH by lia. replace (lo + 1 + Z.of_nat i)%Z with (lo + Z.of_nat (S i))%Z by lia. ring. Qed.

Lemma no_less_add_at i : forall n l, (0 <= n)%Z -> no_less l -> no_less (add_at i n l).
Proof.
  induction i as [| i IH]; intros n [| x l] N0 N; simpl; try easy.
  - intros y [<- | I]; [specialize (N x (or_introl eq_refl)); lia | apply N; now right].
  - intros y [<- | I]; [apply N; now left |]. apply (IH n l); auto. intros z J. apply N. now right. Qed.

Lemma ofQ_ge0_inv x : 0 <= (ofQ x : F) -> (0 <= x)%Q.
Proof. intro H. destruct (Qlt_le_dec x 0) as [L | L]; [exfalso | assumption]. apply (@ofQ_lt F) in L. apply L. now rewrite ofQ_0. Qed.

Section Run.
Variable u : units.
Hypothesis unit_pos : (0 < unit u)%Z.
Hypothesis step_pos : (0 < step u)%Q.

Definition part_ok (hi : Z) (k : known) (mu : law F) :=
  good mu /\ bounded E (unit u) (p_weight E u k) (grid u k) mu (low k) (above k) (excess k) /\
  (exists L : labelled F, map snd L = mu /\ (forall x y, ~ In (Sure, (x, y)) L) /\
    forall h, (forall z, 0 <= h z) -> value (fun z => p_weight E u k z * h z) (low k) (p_labels k) <= z_ (unit u) * sum L (fun e => fst (snd e) * seen h (fst e)) /\
      z_ (unit u) * sum L (fun e => snd (snd e) * seen h (fst e)) <= value (fun z => q_weight E u k z * h z) (low k) (q_labels k)) /\
  no_less (p_labels k) /\ no_less (q_labels k) /\
  length (above k) = Z.to_nat (hi - low k + 1) /\ length (p_labels k) = Z.to_nat (hi - low k + 1) /\ length (q_labels k) = Z.to_nat (hi - low k + 1).

Lemma entry_ok k (m : Q) z : (0 <= m)%Q ->
  let n := ceiling_of (m * (inject_Z (unit u) * exp_high (numbers u) (rate u k * inject_Z z - kappa u k))) in
  (0 <= n)%Z /\ z_ (unit u) * ofQ m <= z_ n * p_weight E u k z.
Proof.
  intros M n. pose proof (@exp_high_ge0 F E E_ok (numbers u) (rate u k * inject_Z z - kappa u k)) as X0. pose proof (exp_high_ok E_ok (numbers u) (rate u k * inject_Z z - kappa u k)) as X.
  set (x := exp_high _ _) in *. assert (U : (0 < inject_Z (unit u))%Q) by (change 0%Q with (inject_Z 0); now rewrite <- Zlt_Qlt).
  assert (P : (0 <= m * (inject_Z (unit u) * x))%Q) by (assert (0 <= inject_Z (unit u) * x)%Q by nra; nra).
  split; [now apply ceiling_ge0 |]. pose proof (le_ceiling (m * (inject_Z (unit u) * x))) as C. fold n in C. apply (@ofQ_le F) in C. rewrite !ofQ_mul, !ofZ_inject in C.
  assert (W0 : 0 <= p_weight E u k z) by now apply exp_ge0.
  assert (One : p_weight E u k z * E (rate u k * inject_Z z - kappa u k)%Q = 1).
  { unfold p_weight, weight. rewrite <- (exp_add E_ok), <- (exp_0 E_ok). apply (exp_eq E_ok). ring. }
  set (w := p_weight E u k z) in *. set (y := E _) in *. assert (U0 : 0 <= z_ (unit u)) by (apply ofZ_ge0; lia). assert (M0 : 0 <= (ofQ m : F)) by now apply ofQ_ge0.
  apply le_by with ((z_ n - ofQ m * (z_ (unit u) * ofQ x)) * w + ofQ m * z_ (unit u) * ((ofQ x - y) * w) + ofQ m * z_ (unit u) * (w * y - 1)); [ring |].
  rewrite One. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma mass_ge0 (l : law F) : good l -> 0 <= mass l.
Proof. intro G. apply sum_ge0. intros [p q] I. now apply (G p q). Qed.

Lemma sum_line (l : law F) a b : sum l (fun x => a * fst x + b * snd x) = a * sum l fst + b * sum l snd.
Proof. induction l as [| x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Theorem put_ok hi k a k' mu l : (low k <= hi)%Z -> part_ok hi k mu -> atom_ok a l -> put u hi k a = Some k' ->
  part_ok hi k' (mu ++ l) /\ level k' = level k /\ low k' = low k /\ copies k' = copies k.
Proof.
  intros Window (Gm & B & (L & ML & NS & V) & Np & Nq & La & Lp & Lq) A H. unfold put in H. pose proof (grid_pos step_pos k) as G0.
  destruct (place (numbers u) (grid u k) a) as [[first last] |] eqn:Pl; [| discriminate]. destruct (place_ok G0 A Pl) as [FL Ends].
  set (n := numbers u) in *. set (g := grid u k) in *. set (lo := low k) in *. destruct A as (Gl & P0 & Q0 & [P1 P2] & [Q1 Q2] & _).
  assert (U0 : 0 < z_ (unit u)) by now apply unit_gt0. pose proof (lt_le U0) as U1.
  assert (Ml : 0 <= mass l) by now apply mass_ge0. assert (Mq : 0 <= sum l snd) by (apply sum_ge0; intros [p q] I; now apply (Gl p q)).
  assert (Ph : (0 <= p_high a)%Q) by (apply ofQ_ge0_inv; now apply le_trans with (mass l)). assert (Qh : (0 <= q_high a)%Q) by (apply ofQ_ge0_inv; now apply le_trans with (sum l snd)).
  set (labelled := (Z.leb lo first && Z.leb first hi)%bool) in *.
  set (np := floor_of _) in H. set (nq := ceiling_of (q_high a * _)) in H.
  set (p' := if labelled then add_at (Z.to_nat (first - lo)) np (p_labels k) else p_labels k) in *.
  set (q' := if labelled then add_at (Z.to_nat (first - lo)) nq (q_labels k) else q_labels k) in *.
  (* labels *)
  assert (Wz : forall z, 0 <= p_weight E u k z) by (intro; now apply exp_ge0).
  assert (Np' : (0 <= np)%Z /\ z_ np * p_weight E u k first <= z_ (unit u) * ofQ (p_low a)).
  { destruct (exp_low_ok E_ok n (rate u k * inject_Z first - kappa u k)) as [X0 X]. unfold np. set (x := exp_low n (rate u k * inject_Z first - kappa u k)) in *.
    assert (U : (0 < inject_Z (unit u))%Q) by (change 0%Q with (inject_Z 0); now rewrite <- Zlt_Qlt).
    assert (Z0 : (0 <= p_low a * (inject_Z (unit u) * x))%Q) by (assert (0 <= inject_Z (unit u) * x)%Q by nra; nra).
    split; [now apply floor_ge0 |]. pose proof (floor_le (p_low a * (inject_Z (unit u) * x))) as C. apply (@ofQ_le F) in C. rewrite !ofQ_mul, !ofZ_inject in C.
    assert (One : p_weight E u k first * E (rate u k * inject_Z first - kappa u k)%Q = 1).
    { unfold p_weight, weight. rewrite <- (exp_add E_ok), <- (exp_0 E_ok). apply (exp_eq E_ok). ring. }
    set (c := z_ (floor_of (p_low a * (inject_Z (unit u) * x)))) in *. set (w := p_weight E u k first) in *. set (y := E (rate u k * inject_Z first - kappa u k)%Q) in *. assert (w0 : 0 <= w) by apply Wz. assert (p0 : 0 <= (ofQ (p_low a) : F)) by now apply ofQ_ge0.
    apply le_by with ((ofQ (p_low a) * (z_ (unit u) * ofQ x) - c) * w + ofQ (p_low a) * z_ (unit u) * ((y - ofQ x) * w) + ofQ (p_low a) * z_ (unit u) * (1 - w * y)); [ring |].
    rewrite One. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply le_by with (0 : F); [ring | apply le_refl]. }
  assert (Nq' : (0 <= nq)%Z /\ z_ (unit u) * ofQ (q_high a) <= z_ nq * q_weight E u k first).
  { pose proof (@exp_high_ge0 F E E_ok n (rate u k * inject_Z first - kappa u k)) as X0. pose proof (exp_high_ok E_ok n (rate u k * inject_Z first - kappa u k)) as X.
    pose proof (@exp_high_ge0 F E E_ok n (g * inject_Z first)) as Y0. pose proof (exp_high_ok E_ok n (g * inject_Z first)) as Y.
    unfold nq. set (x := exp_high n (rate u k * inject_Z first - kappa u k)) in *. set (y := exp_high n (g * inject_Z first)) in *.
    assert (U : (0 < inject_Z (unit u))%Q) by (change 0%Q with (inject_Z 0); now rewrite <- Zlt_Qlt).
    assert (Z0 : (0 <= q_high a * (inject_Z (unit u) * (x * y)))%Q) by (assert (0 <= x * y)%Q by nra; assert (0 <= inject_Z (unit u) * (x * y))%Q by nra; nra).
    split; [now apply ceiling_ge0 |]. pose proof (le_ceiling (q_high a * (inject_Z (unit u) * (x * y)))) as C. apply (@ofQ_le F) in C. rewrite !ofQ_mul, !ofZ_inject in C.
    assert (One : q_weight E u k first * (E (rate u k * inject_Z first - kappa u k)%Q * E (g * inject_Z first)%Q) = 1).
    { unfold q_weight, weight. rewrite <- !(exp_add E_ok), <- (exp_0 E_ok). apply (exp_eq E_ok). unfold g. ring. }
    set (c := z_ (ceiling_of (q_high a * (inject_Z (unit u) * (x * y))))) in *. assert (w0 : 0 <= q_weight E u k first) by now apply exp_ge0. set (w := q_weight E u k first) in *.
    pose proof (exp_ge0 E_ok (rate u k * inject_Z first - kappa u k)%Q) as ex0. pose proof (exp_ge0 E_ok (g * inject_Z first)%Q) as ey0.
    set (ex := E (rate u k * inject_Z first - kappa u k)%Q) in *. set (ey := E (g * inject_Z first)%Q) in *. assert (p0 : 0 <= (ofQ (q_high a) : F)) by now apply ofQ_ge0.
    assert (x0 : 0 <= (ofQ x : F)) by now apply ofQ_ge0.
    apply le_by with ((c - ofQ (q_high a) * (z_ (unit u) * (ofQ x * ofQ y))) * w + ofQ (q_high a) * z_ (unit u) * w * ((ofQ x - ex) * ey + ofQ x * (ofQ y - ey)) + ofQ (q_high a) * z_ (unit u) * (w * (ex * ey) - 1)); [ring |].
    rewrite One. repeat apply add_ge0; repeat apply le_mul; repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply le_by with (0 : F); [ring | apply le_refl]. }
  set (lab := if labelled then At first else Out).
  assert (Labels : (exists L : Accountant.labelled F, map snd L = mu ++ l /\ (forall x y, ~ In (Sure, (x, y)) L) /\
      forall h, (forall z, 0 <= h z) -> value (fun z => p_weight E u k z * h z) lo p' <= z_ (unit u) * sum L (fun e => fst (snd e) * seen h (fst e)) /\
        z_ (unit u) * sum L (fun e => snd (snd e) * seen h (fst e)) <= value (fun z => q_weight E u k z * h z) lo q') /\
    no_less p' /\ no_less q' /\ length p' = length (p_labels k) /\ length q' = length (q_labels k)).
  { split; [| unfold p', q'; destruct labelled; repeat split; try assumption; try apply length_add_at; now apply no_less_add_at].
    exists (L ++ map (fun e => (lab, e)) l). split; [rewrite map_app, ML, map_map; simpl; now rewrite map_id |]. split.
    - intros x y I. apply in_app_iff in I. destruct I as [I | I]; [now apply (NS x y) |]. apply in_map_iff in I. destruct I as (e & Ee & _). injection Ee as Ee _. unfold lab in Ee. destruct labelled; discriminate.
    - intros h H0. destruct (V h H0) as [V1 V2]. rewrite !sum_app, !sum_map. cbn [fst snd].
      assert (S1 : sum l (fun e => fst e * seen h lab) = seen h lab * mass l) by (unfold mass; rewrite <- sum_scale; apply sum_ext; intros; ring).
      assert (S2 : sum l (fun e => snd e * seen h lab) = seen h lab * sum l snd) by (rewrite <- sum_scale; apply sum_ext; intros; ring).
      rewrite S1, S2. unfold lab, p', q'. destruct labelled eqn:Lb.
      + apply andb_prop in Lb as [Lb1 Lb2]. apply Z.leb_le in Lb1, Lb2. rewrite !value_add_at by lia.
        replace (lo + Z.of_nat (Z.to_nat (first - lo)))%Z with first by lia. change (seen h (At first)) with (h first). specialize (H0 first). set (hf := h first) in *.
        set (sp := sum L _) in *. set (vp := value _ lo (p_labels k)) in *. set (sq := sum L (fun e => snd (snd e) * _)) in *. set (vq := value _ lo (q_labels k)) in *. split.
        * apply le_by with ((z_ (unit u) * sp - vp) + hf * ((z_ (unit u) * ofQ (p_low a) - z_ np * p_weight E u k first) + z_ (unit u) * (mass l - ofQ (p_low a)))); [ring |].
          apply add_ge0; [now apply sub_ge0 |]. apply le_mul; [assumption |]. apply add_ge0; [now apply sub_ge0 | apply le_mul; [assumption | now apply sub_ge0]].
        * apply le_by with ((vq - z_ (unit u) * sq) + hf * ((z_ nq * q_weight E u k first - z_ (unit u) * ofQ (q_high a)) + z_ (unit u) * (ofQ (q_high a) - sum l snd))); [ring |].
          apply add_ge0; [now apply sub_ge0 |]. apply le_mul; [assumption |]. apply add_ge0; [now apply sub_ge0 | apply le_mul; [assumption | now apply sub_ge0]].
      + change (seen h Out) with (0 : F). split; [eapply le_trans; [exact V1 |] | eapply le_trans; [| exact V2]]; apply le_by with (0 : F); try (ring || apply le_refl). }
  destruct B as (Na & E0 & B).
  (* what a way to count the outputs gives *)
  assert (Finish : forall above' excess', no_less above' -> length above' = length (above k) -> (0 <= excess')%Q ->
    (forall alpha, 0 <= alpha -> value (fun z => p_weight E u k z * worth E g alpha z) lo (above k) + z_ (unit u) * ofQ (excess k) + z_ (unit u) * gain alpha l <=
      value (fun z => p_weight E u k z * worth E g alpha z) lo above' + z_ (unit u) * ofQ excess') ->
    part_ok hi {| level := level k; low := lo; above := above'; excess := excess'; p_labels := p'; q_labels := q'; sure := sure k; copies := copies k |} (mu ++ l)).
  { intros above' excess' N' L' E' Al. destruct Labels as (Lb & Lb1 & Lb2 & Lb3 & Lb4). split; [now apply good_app |]. split.
    - split; [assumption |]. split; [assumption |]. intros alpha Al0. unfold gain. rewrite sum_app. fold (gain alpha mu) (gain alpha l).
      eapply le_trans; [| now apply Al]. specialize (B alpha Al0). fold g in B. fold lo in B.
      set (v := value _ lo (above k)) in *. apply le_by with (v + z_ (unit u) * ofQ (excess k) - z_ (unit u) * gain alpha mu); [ring | now apply sub_ge0].
    - split; [exact Lb |]. repeat split; try assumption; cbn [above p_labels q_labels low]; congruence. }
  assert (Gain : forall alpha, 0 <= alpha -> gain alpha l <= mass l).
  { intros alpha Al. apply sum_le. intros [p q] I. destruct (Gl p q I) as [P Q']. apply pos_least; [assumption |]. simpl. apply le_by with (alpha * q); [ring | now apply le_mul]. }
  destruct (Z.ltb hi last) eqn:Out_.
  { injection H as <-. split; [| easy]. apply Finish; try assumption; [reflexivity | lra |]. intros alpha Al. rewrite ofQ_add.
    set (v := value _ lo (above k)). apply le_by with (z_ (unit u) * ((mass l - gain alpha l) + (ofQ (p_high a) - mass l))); [ring |].
    apply le_mul; [assumption |]. apply add_ge0; apply sub_ge0; [now apply Gain | assumption]. }
  apply Z.ltb_ge in Out_. destruct (Z.ltb first lo || Z.eqb first last)%bool eqn:Mv.
  { injection H as <-. split; [| easy]. set (z := Z.max last lo).
    assert (Lz : (lo <= z)%Z /\ (last <= z)%Z) by (unfold z; lia). destruct (entry_ok k z Ph) as [N0 N1]. fold n in N0, N1. set (ne := ceiling_of (p_high a * _)) in *.
    - apply Finish; try assumption; [now apply no_less_add_at | apply length_add_at |]. intros alpha Al. rewrite value_add_at by (rewrite La; lia).
      replace (lo + Z.of_nat (Z.to_nat (z - lo)))%Z with z by lia. set (v := value _ lo (above k)).
      assert (Gz : gain alpha l <= mass l * worth E g alpha z).
      { unfold mass, gain. replace (sum l fst * worth E g alpha z) with (sum l (fun e => worth E g alpha z * fst e)) by (rewrite sum_scale; ring). apply sum_le. intros [p q] I. simpl.
        destruct (Gl p q I) as [P Q']. unfold worth. replace (pos (1 - alpha * E (- (g * inject_Z z))%Q) * p) with (p * pos (1 - alpha * E (- (g * inject_Z z))%Q)) by ring.
        rewrite <- pos_scale by assumption. apply pos_mono. destruct (Ends p q I) as [_ Hi]. apply le_by with (alpha * (q - p * E (- (g * inject_Z z))%Q)); [ring |].
        apply le_mul; [assumption |]. apply sub_ge0. apply cut_by with (E (g * inject_Z z)%Q); [now apply exp_gt0 |].
        replace (E (g * inject_Z z)%Q * (p * E (- (g * inject_Z z))%Q)) with (p * (E (g * inject_Z z)%Q * E (- (g * inject_Z z))%Q)) by ring. rewrite (exp_inverse E_ok).
        apply le_trans with p; [apply le_by with (0 : F); [ring | apply le_refl] |]. eapply le_trans; [exact Hi |].
        assert (Mono : E (g * inject_Z last)%Q <= E (g * inject_Z z)%Q) by (apply (exp_mono E_ok); assert (inject_Z last <= inject_Z z)%Q by (rewrite <- Zle_Qle; lia); nra).
        apply le_by with ((E (g * inject_Z z)%Q - E (g * inject_Z last)%Q) * q); [ring | apply le_mul; [now apply sub_ge0 | assumption]]. }
      pose proof (worth_ge0 E g alpha z) as Wo. set (wo := worth E g alpha z) in *. set (w := p_weight E u k z) in *.
      apply le_by with (z_ (unit u) * (mass l * wo - gain alpha l) + z_ (unit u) * ((ofQ (p_high a) - mass l) * wo) + (z_ ne * w - z_ (unit u) * ofQ (p_high a)) * wo); [ring |].
      repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. }
  apply orb_false_iff in Mv as [Mv1 Mv2]. apply Z.ltb_ge in Mv1. apply Z.eqb_neq in Mv2. assert (Last : last = (first + 1)%Z) by lia.
  destruct (Qle_bool 1 (exp_high n (- g))) eqn:Most; [discriminate |]. apply qle_false in Most. injection H as <-. split; [| easy].
  set (e := E (- g)%Q). assert (Ee : e = E (- g)%Q) by reflexivity. clearbody e.
  destruct (exp_low_ok E_ok n (- g)) as [Le0 Le]. pose proof (exp_high_ok E_ok n (- g)) as Mo. rewrite <- Ee in Le, Mo. set (most := exp_high n (- g)) in *. set (least := exp_low n (- g)) in *.
  assert (Least : (least < 1)%Q).
  { destruct (Qlt_le_dec least 1) as [Z | Z]; [assumption | exfalso]. apply (@ofQ_lt F) in Most. apply Most. eapply le_trans; [apply ofQ_le; exact Z |]. now apply le_trans with e. }
  assert (E1 : 0 < 1 - e) by (apply lt_le_trans with (ofQ (1 - most)); [apply ofQ_gt0; lra | rewrite ofQ_sub, ofQ_1; apply le_by with (ofQ most - e); [ring | now apply sub_ge0]]).
  assert (Nz : 1 - e <> 0) by now apply lt_neq.
  pose proof (exp_ge0 E_ok (g * inject_Z first)%Q) as F0. set (f := E (g * inject_Z first)%Q) in *.
  set (V0 := (mass l - f * sum l snd) / (1 - e)). set (U0' := mass l - V0).
  destruct (exp_low_ok E_ok n (g * inject_Z first)) as [Fl0 Fl]. pose proof (exp_high_ok E_ok n (g * inject_Z first)) as Fh. fold f in Fl, Fh. set (fl := exp_low n (g * inject_Z first)) in *. set (fh := exp_high n (g * inject_Z first)) in *.
  assert (N0 : 0 <= mass l - f * sum l snd).
  { unfold mass. apply le_by with (sum l (fun x => 1 * fst x + (- f) * snd x)); [rewrite sum_line; ring |].
    apply sum_ge0. intros [p q] I. simpl. apply le_by with (p - f * q); [ring |]. apply sub_ge0. now apply (Ends p q I). }
  assert (V00 : 0 <= V0) by (unfold V0; replace ((mass l - f * sum l snd) / (1 - e)) with ((mass l - f * sum l snd) * inv (1 - e)) by (field; assumption); apply le_mul; [assumption | apply lt_le; now apply inv_gt0]).
  assert (Vd : V0 * (1 - e) = mass l - f * sum l snd) by (unfold V0; field; assumption).
  (* each output split over both places, and so their sum *)
  assert (Split : forall alpha, 0 <= alpha -> gain alpha l <= U0' * worth E g alpha first + V0 * worth E g alpha last).
  { intros alpha Al. set (wf := worth E g alpha first). set (wl := worth E g alpha last).
    assert (Each : forall p q, In (p, q) l -> pos (p - alpha * q) <= (p - (p - f * q) / (1 - e)) * wf + (p - f * q) / (1 - e) * wl).
    { intros p q I. destruct (Ends p q I) as [E2 E3]. destruct (Gl p q I) as [P Q'].
      assert (Half : 0 <= (p - f * q) / (1 - e)) by (replace ((p - f * q) / (1 - e)) with ((p - f * q) * inv (1 - e)) by (field; assumption); apply le_mul; [now apply sub_ge0 | apply lt_le; now apply inv_gt0]).
      pose proof (exp_inverse E_ok (g * inject_Z first)%Q) as Inv. fold f in Inv. set (i := E (- (g * inject_Z first))%Q) in *.
      assert (Fe : E (- (g * inject_Z last))%Q = i * e).
      { unfold i. rewrite Ee, <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Last, inject_Z_plus. change (inject_Z 1) with 1%Q. ring. }
      assert (Up : E (g * inject_Z last)%Q * e = f).
      { unfold f. rewrite Ee, <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Last, inject_Z_plus. change (inject_Z 1) with 1%Q. ring. }
      apply (chord_worth (E := E) (grid := g) (i := first) (j := last) (u0 := p - (p - f * q) / (1 - e)) (v0 := (p - f * q) / (1 - e))); try assumption; try apply le_refl.
      - apply cut_by with (1 - e); [assumption |]. apply le_by with (f * q - e * p); [field; assumption |]. apply sub_ge0. rewrite <- Up.
        apply le_by with (e * (E (g * inject_Z last)%Q * q - p)); [ring |]. apply le_mul; [rewrite Ee; now apply exp_ge0 | now apply sub_ge0].
      - ring.
      - fold i. rewrite Fe. transitivity (i * p - i * (p - f * q)); [field; assumption |]. transitivity (f * i * q); [ring |]. rewrite Inv. ring. }
    unfold gain. eapply le_trans; [apply sum_le with (g := fun x => ((wl - wf) / (1 - e) + wf) * fst x + (- (f * ((wl - wf) / (1 - e)))) * snd x) |].
    - intros [p q] I. simpl. eapply le_trans; [now apply Each |]. apply le_by with (0 : F); [field; assumption | apply le_refl].
    - rewrite sum_line. unfold U0', V0, mass. apply le_by with (0 : F); [field; assumption | apply le_refl]. }
  assert (U00 : 0 <= U0').
  { unfold U0'. apply cut_by with (1 - e); [assumption |]. apply le_by with (f * sum l snd - e * mass l); [transitivity (mass l * (1 - e) - V0 * (1 - e)); [ring | rewrite Vd; ring] |].
    assert (Up : E (g * inject_Z last)%Q * e = f).
    { unfold f. rewrite Ee, <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Last, inject_Z_plus. change (inject_Z 1) with 1%Q. ring. }
    rewrite <- Up. unfold mass. apply le_by with (sum l (fun x => (- e) * fst x + (e * E (g * inject_Z last)%Q) * snd x)); [rewrite sum_line; ring |].
    apply sum_ge0. intros [p q] I. simpl. apply le_by with (e * (E (g * inject_Z last)%Q * q - p)); [ring |]. apply le_mul; [rewrite Ee; now apply exp_ge0 | apply sub_ge0; now apply (Ends p q I)]. }
  set (vh := ((p_high a - fl * q_low a) / (1 - most))%Q). set (vl := (above0 (p_low a - fh * q_high a) / (1 - least))%Q).
  assert (Vh : V0 <= ofQ vh).
  { apply cut_by with (ofQ (1 - most)); [apply ofQ_gt0; lra |]. rewrite <- ofQ_mul, (@ofQ_eq F ((1 - most) * vh) (p_high a - fl * q_low a)) by (unfold vh; field; intro; lra).
    rewrite !ofQ_sub, ofQ_1, ofQ_mul. apply le_trans with (V0 * (1 - e)).
    - apply le_by with (V0 * (ofQ most - e)); [ring | apply le_mul; [assumption | now apply sub_ge0]].
    - rewrite Vd. assert (0 <= (ofQ (q_low a) : F)) by now apply ofQ_ge0.
      apply le_by with ((ofQ (p_high a) - mass l) + (f - ofQ fl) * ofQ (q_low a) + f * (sum l snd - ofQ (q_low a))); [ring |]. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. }
  assert (Vl : ofQ vl <= V0).
  { apply cut_by with (ofQ (1 - least)); [apply ofQ_gt0; lra |]. rewrite <- ofQ_mul, (@ofQ_eq F ((1 - least) * vl) (above0 (p_low a - fh * q_high a))) by (unfold vl; field; intro; lra).
    rewrite ofQ_sub, ofQ_1. apply le_trans with (V0 * (1 - e)).
    - rewrite Vd. unfold above0. destruct (Qle_bool 0 (p_low a - fh * q_high a)); [| rewrite ofQ_0; assumption]. rewrite ofQ_sub, ofQ_mul.
      assert (0 <= (ofQ fh : F)) by now apply le_trans with f.
      apply le_by with ((mass l - ofQ (p_low a)) + (ofQ fh - f) * sum l snd + ofQ fh * (ofQ (q_high a) - sum l snd)); [ring |]. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption.
    - apply le_by with (V0 * (e - ofQ least)); [ring | apply le_mul; [assumption | now apply sub_ge0]]. }
  assert (Vh0 : (0 <= vh)%Q) by (apply ofQ_ge0_inv; now apply le_trans with V0).
  assert (Uh : U0' <= ofQ (p_high a - vl)) by (rewrite ofQ_sub; unfold U0'; apply le_by with ((ofQ (p_high a) - mass l) + (V0 - ofQ vl)); [ring | apply add_ge0; now apply sub_ge0]).
  assert (Uh0 : (0 <= p_high a - vl)%Q) by (apply ofQ_ge0_inv; now apply le_trans with U0').
  destruct (entry_ok k first Uh0) as [A0 A1]. destruct (entry_ok k last Vh0) as [B0 B1]. fold n in A0, A1, B0, B1.
  set (nf := ceiling_of ((p_high a - vl) * _)) in *. set (nl := ceiling_of (vh * _)) in *.
  apply Finish; [now apply no_less_add_at, no_less_add_at | now rewrite !length_add_at | assumption |]. intros alpha Al.
  rewrite !value_add_at by (rewrite ?length_add_at, La; lia). replace (lo + Z.of_nat (Z.to_nat (first - lo)))%Z with first by lia. replace (lo + Z.of_nat (Z.to_nat (last - lo)))%Z with last by lia.
  specialize (Split alpha Al). pose proof (worth_ge0 E g alpha first) as Wf. pose proof (worth_ge0 E g alpha last) as Wl. set (wf := worth E g alpha first) in *. set (wl := worth E g alpha last) in *.
  set (v := value _ lo (above k)). set (pf := p_weight E u k first) in *. set (pl := p_weight E u k last) in *.
  apply le_by with (z_ (unit u) * (U0' * wf + V0 * wl - gain alpha l) + z_ (unit u) * ((ofQ (p_high a - vl) - U0') * wf) + z_ (unit u) * ((ofQ vh - V0) * wl)
    + (z_ nf * pf - z_ (unit u) * ofQ (p_high a - vl)) * wf + (z_ nl * pl - z_ (unit u) * ofQ vh) * wl); [ring |].
  repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. Qed.

Lemma put_all_ok hi : forall l k k' mu ls, (low k <= hi)%Z -> part_ok hi k mu -> Forall2 atom_ok l ls -> put_all u hi k l = Some k' ->
  part_ok hi k' (mu ++ concat ls) /\ level k' = level k /\ low k' = low k /\ copies k' = copies k.
Proof.
  induction l as [| a l IH]; intros k k' mu ls W P A H; inversion A as [| ? y ? ls' A1 A2]; subst; simpl in H.
  - injection H as <-. simpl. now rewrite app_nil_r.
  - destruct (put u hi k a) as [k1 |] eqn:Pu; [| discriminate]. destruct (put_ok W P A1 Pu) as (P1 & L1 & O1 & C1).
    destruct (IH k1 k' (mu ++ y) ls') as (P2 & L2 & O2 & C2); try assumption; [now rewrite O1 |]. simpl. rewrite app_assoc. split; [assumption |]. repeat split; congruence. Qed.

Lemma runs_none (laws : list (law F)) : all_good laws -> forall n, same_gains (runs_of laws (repeat 0%N n)) (nothing F).
Proof.
  intros G n. revert laws G. induction n as [| n IH]; intros [| l laws] G; simpl; try (intros alpha _; reflexivity).
  apply same_trans with (runs_of laws (repeat 0%N n)); [apply equal_same, times_nothing |]. apply IH. intros x I. apply G. now right. Qed.

Lemma runs_one (laws : list (law F)) : all_good laws -> forall i l, nth_error laws i = Some l -> same_gains l (runs_of laws (one_hot (length laws) i)).
Proof.
  induction laws as [| x laws IH]; intros G [| i] l H; simpl in H; try discriminate.
  - injection H as ->. assert (Gl : good l) by (apply G; now left). assert (G' : all_good laws) by (intros y I; apply G; now right). apply same_sym.
    unfold runs_of. simpl. change (Pos.to_nat 1) with 1%nat. simpl.
    apply same_trans with (times l (nothing F)).
    + apply same_times; auto using good_times, good_nothing, good_joint.
      * apply same_trans with (times (nothing F) l); [apply equal_same, times_comm | apply equal_same, times_nothing].
      * now apply runs_none.
    + apply same_trans with (times (nothing F) l); [apply equal_same, times_comm | apply equal_same, times_nothing].
  - assert (G' : all_good laws) by (intros y I; apply G; now right). apply same_trans with (runs_of laws (one_hot (length laws) i)); [now apply IH |].
    unfold runs_of. simpl. apply equal_same, equal_sym, times_nothing. Qed.

Lemma length_one_hot n : forall i, length (one_hot n i) = n.
Proof. induction n as [| n IH]; intros [| i]; simpl; try reflexivity; [now rewrite repeat_length | now rewrite IH]. Qed.

Lemma zeros_no_less n : no_less (repeat 0%Z n).
Proof. intros x I. apply repeat_spec in I. lia. Qed.

Lemma value_zeros (h : Z -> F) n : forall lo, value h lo (repeat 0%Z n) = 0.
Proof. induction n as [| n IH]; intro lo; simpl; [reflexivity |]. rewrite IH. change (ofZ F 0) with (0 : F). ring. Qed.

Lemma beyond_gain m alpha : (0 <= sure_of m)%Q -> 0 <= alpha -> gain alpha (beyond m) = ofQ (sure_of m).
Proof.
  intros S0 Al. unfold gain. destruct m as [t l | e d]; simpl; [now rewrite ofQ_0 |]. assert (D : 0 <= (ofQ d : F)) by (apply ofQ_ge0; simpl in S0; assumption).
  rewrite pos_of_ge0 by (apply le_by with (ofQ d); [ring | assumption]). rewrite pos_of_le0; [ring |]. apply le_by with (alpha * ofQ d); [ring | now apply le_mul]. Qed.

Theorem cells_ok log labels ms i lev lo hi k : forallb mechanism_ok ms = true -> cells log u labels ms i lev lo hi = Some k -> known_ok E (map law_of ms) u k.
Proof.
  intros Ok H. unfold cells in H. destruct (Z.ltb hi lo) eqn:Win; [discriminate |]. apply Z.ltb_ge in Win.
  destruct (nth_error ms i) as [m |] eqn:Nth; [| discriminate].
  assert (Okm : mechanism_ok m = true) by (rewrite forallb_forall in Ok; apply Ok; eapply nth_error_In; eassumption).
  set (zeros := repeat 0%Z (Z.to_nat (hi - lo + 1))) in *. set (start := {| level := lev; low := lo; above := zeros; excess := 0; p_labels := zeros; q_labels := zeros; sure := 0; copies := one_hot (length ms) i |}) in *.
  destruct (put_all u hi start (atoms_of log (numbers u) m)) as [k1 |] eqn:Pu; [| discriminate].
  destruct (atoms_ok log (numbers u) Okm) as (ls & A & Cat).
  assert (St : part_ok hi start []).
  { split; [easy |]. split; [split; [apply zeros_no_less | split; [cbn [excess start]; lra |]] |].
    - intros alpha _. unfold start, zeros; cbn [low above excess]. rewrite value_zeros, ofQ_0. unfold gain. simpl. apply le_by with (0 : F); [ring | apply le_refl].
    - split; [| unfold start, zeros; cbn [p_labels q_labels above low]; rewrite repeat_length; repeat split; try reflexivity; apply zeros_no_less].
      exists []. split; [reflexivity |]. split; [easy |]. intros h H0. unfold start, zeros; cbn [low p_labels q_labels]. rewrite !value_zeros. simpl. split; apply le_by with (0 : F); (ring || apply le_refl). }
  destruct (put_all_ok (k := start) (hi := hi) Win St A Pu) as (P & Lk & Ok1 & Ck). simpl app in P. rewrite Cat in P. cbn [level low copies start] in Lk, Ok1, Ck.
  assert (Good : all_good (map law_of ms)).
  { intros l I. apply in_map_iff in I. destruct I as (m' & <- & I). apply law_good. rewrite forallb_forall in Ok. now apply Ok. }
  assert (Whole : forall l, In l (map law_of ms) -> mass l = 1).
  { intros l I. apply in_map_iff in I. destruct I as (m' & <- & I). apply law_whole. rewrite forallb_forall in Ok. now apply Ok. }
  apply (window_ok E_ok Good Whole unit_pos step_pos) with (2 := H). clear H.
  match goal with |- known_ok _ _ _ ?j => set (j0 := j) end.
  assert (Wp : p_weight E u j0 = p_weight E u k1) by (unfold p_weight, kappa, rate, grid, j0; cbn [level copies]; now rewrite Lk).
  assert (Wq : q_weight E u j0 = q_weight E u k1) by (unfold q_weight, kappa, rate, grid, j0; cbn [level copies]; now rewrite Lk).
  assert (Gr : grid u j0 = grid u k1) by (unfold grid, j0; cbn [level]; now rewrite Lk).
  destruct P as (Gi & B & (L & ML & NS & V) & Np & Nq & _ & _ & _). pose proof (mechanism_range Okm) as R.
  assert (S0 : (0 <= sure_of m)%Q) by (destruct m; simpl; lra).
  assert (Run : same_gains (law_of m) (runs_of (map law_of ms) (copies j0))).
  { unfold j0; cbn [copies]. rewrite Ck. replace (length ms) with (length (map (law_of) ms)) by apply map_length. apply runs_one; [assumption |]. now rewrite nth_error_map, Nth. }
  pose proof (fun alpha => @beyond_gain m alpha S0) as Beyond.
  unfold known_ok. rewrite Wp, Wq, Gr. split; [| split; [| split; [| split]]].
  - apply (bounded_same Run). unfold j0; cbn [low above excess]. rewrite <- Ok1 at 1. destruct B as (N & E0 & B). split; [assumption |]. split; [lra |]. intros alpha Al.
    unfold law_of, gain. rewrite sum_app. fold (gain alpha (inner m)) (gain alpha (beyond m)). rewrite (Beyond alpha Al), ofQ_add. specialize (B alpha Al).
    set (v := value _ _ _) in *. apply le_by with (v + z_ (unit u) * ofQ (excess k1) - z_ (unit u) * gain alpha (inner m)); [ring | now apply sub_ge0].
  - apply (shown_same Run).
    assert (Full : shown (unit u) (p_weight E u k1) (q_weight E u k1) (law_of m) lo (p_labels k1) (q_labels k1) (sure_of m)).
    { exists (L ++ match m with Response _ _ => [] | Private _ d => [(Sure, (ofQ d, 0)); (Out, (0, ofQ d))] end).
      assert (Same : map snd (L ++ match m with Response _ _ => [] | Private _ d => [(Sure, (ofQ d, 0)); (Out, (0, ofQ d))] end) = law_of m) by (rewrite map_app, ML; unfold law_of; destruct m; reflexivity).
      rewrite Same. split; [now apply law_good |]. split; [now apply law_whole |]. split; [intros alpha _; apply le_refl |].
      assert (SumSure : sum L (fun e => fst (snd e) * is_sure F (fst e)) = 0).
      { transitivity (sum L (fun _ => (0 : F))); [| apply sum_0]. apply sum_ext. intros [[z | |] [x y]] I; simpl; try ring. exfalso. now apply (NS x y). }
      split; [| split; [| split; [assumption |]]].
      - intros h H0. specialize (V h H0). rewrite Ok1 in V. destruct V as [V1 V2]. rewrite !sum_app.
        assert (Z1 : sum match m with Response _ _ => [] | Private _ d => [(Sure, (ofQ d, 0)); (Out, (0, ofQ d))] end (fun e : label * (F * F) => fst (snd e) * seen h (fst e)) = 0) by (destruct m; simpl; ring).
        assert (Z2 : sum match m with Response _ _ => [] | Private _ d => [(Sure, (ofQ d, 0)); (Out, (0, ofQ d))] end (fun e : label * (F * F) => snd (snd e) * seen h (fst e)) = 0) by (destruct m; simpl; ring).
        rewrite Z1, Z2. split; [eapply le_trans; [exact V1 |] | eapply le_trans; [| exact V2]]; apply le_by with (0 : F); (ring || apply le_refl).
      - rewrite sum_app, SumSure. destruct m; simpl; [rewrite ofQ_0 |]; apply le_by with (0 : F); (ring || apply le_refl).
      - intros x y I. apply in_app_iff in I. destruct I as [I | I]; [exfalso; now apply (NS x y) |]. destruct m; simpl in I; [easy |]. destruct I as [I | [I | []]]; [now injection I as <- <- | discriminate]. }
    assert (Less : forall s, (0 <= s <= sure_of m)%Q -> shown (unit u) (p_weight E u k1) (q_weight E u k1) (law_of m) lo (p_labels k1) (q_labels k1) s).
    { intros s [S1 S2]. destruct Full as (L1 & F1 & F2 & F3 & F4 & F5 & F6 & F7). exists L1. split; [exact F1 |]. split; [exact F2 |]. split; [exact F3 |]. split; [exact F4 |]. split; [| split; [assumption | exact F7]].
      eapply le_trans; [| exact F5]. apply ofQ_le. assumption. }
    unfold j0; cbn [low p_labels q_labels sure]. destruct labels; [apply Less; split; [now apply down_ge0 | apply down_le] |].
    apply (shown_none _ _ _ (Less 0%Q ltac:(lra)) Nq). intro z. now apply exp_ge0.
  - unfold j0; cbn [p_labels]. destruct labels; [assumption | easy].
  - unfold j0; cbn [q_labels]. destruct labels; [assumption | easy].
  - unfold j0; cbn [copies]. rewrite Ck, length_one_hot. symmetry. apply map_length. Qed.
End Run.
End Sound.

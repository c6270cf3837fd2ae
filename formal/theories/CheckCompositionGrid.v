(** * The steps of a computation on a grid of losses (rules O3 and O4 of docs/certificates/composition.md) *)

From Coq Require Import ZArith NArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Accountant AccountantNumbers.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.
Arguments sum_up : simpl never.
Arguments sum_down : simpl never.
Arguments moved_up : simpl never.

(** What the entries of a computation stand for: at a loss l for so many times e^(scale - tilt l) / unit. *)
Record units := { unit : Z; step : Q; tilt : Q; scales : list Q; numbers : precision }.

(** What is known of some copies of each mechanism. *)
Record known := {
  level : nat;
  low : Z;
  above : list Z;  (* a measure that dominates *)
  excess : Q;
  p_labels : list Z;  (* masses by label *)
  q_labels : list Z;
  sure : Q;
  copies : list N
}.

Definition half (x : Q) : Q := Qmake (Qnum x) (2 * Qden x).
Fixpoint finer (step : Q) (level : nat) : Q := match level with O => step | S n => half (finer step n) end.
Definition grid (u : units) (k : known) : Q := finer (step u) (level k).
Fixpoint scale_of (scales : list Q) (copies : list N) : Q := match scales, copies with
  | x :: scales', n :: copies' => (inject_Z (Z.of_N n) * x + scale_of scales' copies')%Q
  | _, _ => 0%Q
  end.
Fixpoint plus_copies (a b : list N) : list N := match a, b with n :: a', m :: b' => (n + m)%N :: plus_copies a' b' | _, _ => [] end.
Definition kappa (u : units) (k : known) : Q := scale_of (scales u) (copies k).
Definition rate (u : units) (k : known) : Q := (tilt u * grid u k)%Q.
Definition per (u : units) (x : Q) : Q := (x * (1 # Z.to_pos (unit u)))%Q.
Definition low_weight (u : units) (k : known) (z : Z) : Q := exp_low (numbers u) (kappa u k - rate u k * inject_Z z).
Definition high_weight (u : units) (k : known) (z : Z) : Q := exp_high (numbers u) (kappa u k - rate u k * inject_Z z).

Definition slice (A : Type) (first count : nat) (l : list A) : list A := firstn count (skipn first l).

(** The same on a smaller window, where a mass of one is enough. *)
Definition window (u : units) (k : known) (lo hi : Z) : option known :=
  let first := (lo - low k)%Z in
  if (Z.leb 0 first && Z.leb lo hi && Z.leb hi (low k + Z.of_nat (length (above k)) - 1))%bool then
    let f := Z.to_nat first in
    let n := Z.to_nat (hi - lo + 1) in
    match slice f n (above k) with
    | [] => None
    | x :: mid =>
      let s := kept (numbers u) in
      let moved := ceiling_of (moved_up s (exp_high (numbers u) (rate u k)) (firstn f (above k))) in
      let beyond := sum_up s (exp_high (numbers u) (- rate u k)) (skipn n (skipn f (above k))) in
      let more := up s (excess k + per u (high_weight u k (hi + 1) * beyond)) in
      let whole := (x + moved)%Z in
      let w := low_weight u k lo in
      let mass := sum_down s (exp_low (numbers u) (- rate u k)) (whole :: mid) in
      let less := Z.max 0 (Z.min whole (floor_of (mass - inject_Z (unit u) * (1 - more) / w))) in
      let enough := Qle_bool (inject_Z less) mass && Qle_bool (inject_Z (unit u)) (w * (mass - inject_Z less) + inject_Z (unit u) * more) in
      Some {| level := level k; low := lo; above := (whole - (if enough then less else 0))%Z :: mid; excess := more;
              p_labels := slice f n (p_labels k); q_labels := slice f n (q_labels k); sure := sure k; copies := copies k |}
    end
  else None.

(** A grid of twice the step: entries at odd places are shared out. *)
Fixpoint coarse (lower upper : Z -> Z) (carry : Z) (l : list Z) : list Z := match l with
  | [] => [carry]
  | [x] => [(x + carry)%Z]
  | x :: y :: l' => (x + carry + lower y)%Z :: coarse lower upper (upper y) l'
  end.

Definition evened (low : Z) (l : list Z) : list Z := match l with [] => [] | _ => if Z.odd low then 0%Z :: l else l end.

Definition coarsened (u : units) (k : known) : option known := match level k with
  | O => None
  | S n =>
    let p := numbers u in
    let r := rate u k in
    let g := grid u k in
    let least := exp_low p (- g) in
    let most := exp_high p (- g) in
    let down_by := (exp_high p (- r) * (most / (1 + least)))%Q in
    let up_by := (exp_high p r * (/ (1 + least)))%Q in
    let fall_p := exp_low p (- r) in
    let fall_q := exp_high p (- (r + g)) in
    let times_up := fun f x => ceiling_of (inject_Z x * f) in
    let labels := fun lower l => match l with [] => [] | _ => coarse lower (fun _ => 0%Z) 0%Z (evened (low k) l) end in
    Some {| level := n; low := (low k / 2)%Z;
            above := coarse (times_up down_by) (times_up up_by) 0%Z (evened (low k) (above k)); excess := excess k;
            p_labels := labels (fun x => floor_of (inject_Z x * fall_p)) (p_labels k);
            q_labels := labels (times_up fall_q) (q_labels k); sure := sure k; copies := copies k |}
  end.

(** Two together. *)
Definition multiplied (u : units) (k m : known) : option known :=
  match above k, above m with
  | [], _ | _, [] => None
  | _, _ =>
    if Nat.eqb (level k) (level m) then
      let s := kept (numbers u) in
      let mass := per u (high_weight u k (low k) * sum_up s (exp_high (numbers u) (- rate u k)) (above k)) in
      let '(p, q) := match p_labels k, q_labels k, p_labels m, q_labels m with
        | _ :: _, _ :: _, _ :: _, _ :: _ => (rounded_down_product (unit u) (p_labels k) (p_labels m), rounded_up_product (unit u) (q_labels k) (q_labels m))
        | _, _, _, _ => ([], [])
        end in
      Some {| level := level k; low := (low k + low m)%Z; above := rounded_up_product (unit u) (above k) (above m);
              excess := up s (excess k + mass * excess m); p_labels := p; q_labels := q;
              sure := down s (sure k + sure m - sure k * sure m); copies := plus_copies (copies k) (copies m) |}
    else None
  end.

(** ** What is known is true *)
Section Sound.
Variable F : OrderedField.
Add Field F_field4 : (field_ok F).
Local Open Scope field_scope.
Variable E : Q -> F.
Hypothesis E_ok : exponential E.
Notation z_ := (ofZ F).
Variable laws : list (law F).
Hypothesis laws_good : all_good laws.
Hypothesis laws_whole : forall l, In l laws -> mass l = 1.
Variable u : units.
Hypothesis unit_pos : (0 < unit u)%Z.
Hypothesis step_pos : (0 < step u)%Q.

Definition runs_of (copies : list N) : law F := joint laws (map N.to_nat copies).
Definition p_weight (k : known) : weights F := weight E (kappa u k) (rate u k).
Definition q_weight (k : known) : weights F := weight E (kappa u k) (rate u k + grid u k).

Definition known_ok (k : known) :=
  bounded E (unit u) (p_weight k) (grid u k) (runs_of (copies k)) (low k) (above k) (excess k) /\
  shown (unit u) (p_weight k) (q_weight k) (runs_of (copies k)) (low k) (p_labels k) (q_labels k) (sure k) /\
  no_less (p_labels k) /\ no_less (q_labels k) /\ length (copies k) = length laws.

Lemma half_pos x : (0 < x)%Q -> (0 < half x)%Q.
Proof. unfold half, Qlt; simpl. lia. Qed.

Lemma grid_pos k : (0 < grid u k)%Q.
Proof. unfold grid. induction (level k) as [| n IH]; simpl; [assumption | now apply half_pos]. Qed.

Lemma runs_good c : good (runs_of c).
Proof. now apply good_joint. Qed.

Lemma runs_whole c : mass (runs_of c) = 1.
Proof. now apply mass_joint. Qed.

Lemma per_unit x : z_ (unit u) * ofQ (per u x) = ofQ x.
Proof.
  unfold per. rewrite ofQ_mul. replace (ofQ (1 # Z.to_pos (unit u)) : F) with (inv (z_ (unit u))).
  - field. apply lt_neq. now apply unit_gt0.
  - unfold ofQ. cbn [Qnum Qden]. rewrite Z2Pos.id by assumption. change (z_ 1) with (1 : F). field. apply lt_neq. now apply unit_gt0. Qed.

Lemma no_less_firstn n l : no_less l -> no_less (firstn n l).
Proof. intros N x I. apply N. rewrite <- (firstn_skipn n l). apply in_app_iff. now left. Qed.

Lemma no_less_skipn n l : no_less l -> no_less (skipn n l).
Proof. intros N x I. apply N. rewrite <- (firstn_skipn n l). apply in_app_iff. now right. Qed.

Definition inside (lo hi z : Z) : option Z := if (Z.leb lo z && Z.leb z hi)%bool then Some z else None.

Lemma value_slice (h w : Z -> F) f n l : forall low lo hi, (lo = low + Z.of_nat f)%Z -> (hi = lo + Z.of_nat n - 1)%Z ->
  value (fun z => w z * h z) lo (slice f n l) = value (fun z => w z * match inside lo hi z with Some y => h y | None => 0 end) low l.
Proof.
  assert (None_ : forall l low lo hi, (hi < low)%Z -> value (fun z => w z * match inside lo hi z with Some y => h y | None => 0 end) low l = 0).
  { clear l. induction l as [| x l IH]; intros low lo hi H; simpl; [reflexivity |]. rewrite IH by lia. unfold inside.
    replace (Z.leb low hi) with false by (symmetry; apply Z.leb_gt; lia). rewrite andb_false_r. ring. }
  unfold slice. revert l. induction f as [| f IH]; intros l low lo hi Lo Hi.
  - simpl in Lo |- *. assert (Q0 : lo = low) by lia. clear Lo. subst lo.
    assert (G : forall l base, (low <= base)%Z -> forall n, (hi = base + Z.of_nat n - 1)%Z ->
      value (fun z => w z * h z) base (firstn n l) = value (fun z => w z * match inside low hi z with Some y => h y | None => 0 end) base l).
    { clear l n Hi. induction l as [| x l IHl]; intros base B n Hn; [now rewrite firstn_nil |].
      destruct n as [| n]; simpl firstn; [rewrite None_ by lia; reflexivity |].
      simpl. rewrite (IHl (base + 1)%Z ltac:(lia) n) by lia. unfold inside at 2.
      replace (Z.leb low base) with true by (symmetry; apply Z.leb_le; lia). replace (Z.leb base hi) with true by (symmetry; apply Z.leb_le; lia). reflexivity. }
    apply G; lia.
  - destruct l as [| x l]; [simpl skipn; rewrite firstn_nil; reflexivity |]. simpl skipn. simpl value at 2. rewrite <- (IH l (low + 1)%Z lo hi) by lia.
    unfold inside. replace (Z.leb lo low) with false by (symmetry; apply Z.leb_gt; lia). simpl. ring. Qed.

Lemma excess_more w g mu lo a e e' : (e <= e')%Q -> bounded E (unit u) w g mu lo a e -> bounded E (unit u) w g mu lo a e'.
Proof.
  intros L (N & E0 & B). split; [assumption |]. split; [lra |]. intros alpha A. eapply le_trans; [now apply B |]. apply le_add2; [apply le_refl |].
  apply le_scale; [apply lt_le; now apply unit_gt0 | now apply ofQ_le]. Qed.

Theorem window_ok k lo hi k' : known_ok k -> window u k lo hi = Some k' -> known_ok k'.
Proof.
  intros (B & Sh & Np & Nq & Len) H. unfold window in H.
  destruct (Z.leb 0 (lo - low k) && Z.leb lo hi && Z.leb hi (low k + Z.of_nat (length (above k)) - 1))%bool eqn:C; [| discriminate].
  apply andb_prop in C as [C C3]. apply andb_prop in C as [C1 C2]. apply Z.leb_le in C1, C2, C3.
  set (f := Z.to_nat (lo - low k)) in *. set (n := Z.to_nat (hi - lo + 1)) in *.
  destruct (slice f n (above k)) as [| x mid] eqn:Sl; [discriminate |]. injection H as <-.
  set (s := kept (numbers u)) in *. set (moved := ceiling_of _) in *. set (beyond := sum_up _ _ _) in *. set (more := up _ _) in *.
  set (m := per u (high_weight u k (hi + 1) * beyond)) in *.
  assert (Split : above k = firstn f (above k) ++ (x :: mid) ++ skipn n (skipn f (above k))).
  { rewrite <- Sl. unfold slice. now rewrite firstn_skipn, firstn_skipn. }
  assert (Lf : length (firstn f (above k)) = f) by (rewrite firstn_length; unfold f; lia).
  assert (Lm : length (x :: mid) = n) by (rewrite <- Sl; unfold slice; rewrite firstn_length, skipn_length; unfold f, n; lia).
  pose proof B as (Na & E0 & _). pose proof (no_less_firstn (n := f) Na) as Nf. pose proof (no_less_skipn (n := n) (no_less_skipn (n := f) Na)) as Nr.
  assert (W : weighty (p_weight k)) by (intro z; now apply exp_ge0).
  assert (Lo : (low k + Z.of_nat (length (firstn f (above k))) = lo)%Z) by (rewrite Lf; unfold f; lia).
  assert (Hi : (lo + Z.of_nat (length (x :: mid)) = hi + 1)%Z) by (rewrite Lm; unfold n; lia).
  assert (Mv : (0 <= moved)%Z /\ value (p_weight k) (low k) (firstn f (above k)) <= z_ moved * p_weight k lo).
  { assert (K : value (p_weight k) (low k) (firstn f (above k)) <= ofQ (moved_up s (exp_high (numbers u) (rate u k)) (firstn f (above k))) * p_weight k lo).
    { rewrite <- Lo. apply (moved_up_ok E_ok); [now apply exp_high_ok | assumption]. }
    set (M := moved_up s (exp_high (numbers u) (rate u k)) (firstn f (above k))) in *.
    assert (M0 : (0 <= M)%Q).
    { destruct (Qlt_le_dec M 0) as [Neg | P]; [exfalso | assumption]. assert (V : 0 <= value (p_weight k) (low k) (firstn f (above k))) by (now apply value_ge0).
      assert (Wl : 0 < p_weight k lo) by now apply exp_gt0. apply (@ofQ_lt F) in Neg. apply Neg. rewrite ofQ_0.
      apply cut_by with (p_weight k lo); [assumption |]. apply le_trans with (value (p_weight k) (low k) (firstn f (above k))); [apply le_by with (value (p_weight k) (low k) (firstn f (above k))); [ring | assumption] |].
      eapply le_trans; [exact K |]. apply le_by with (0 : F); [ring | apply le_refl]. }
    split; [now apply ceiling_ge0 |]. eapply le_trans; [exact K |].
    apply le_by with ((z_ moved - ofQ M) * p_weight k lo); [ring |]. apply le_mul; [| apply W]. apply sub_ge0. rewrite <- ofZ_inject. apply ofQ_le, le_ceiling. }
  destruct Mv as [Mv0 Mv].
  assert (Bs : value (p_weight k) (hi + 1) (skipn n (skipn f (above k))) <= ofQ (high_weight u k (hi + 1) * beyond)).
  { eapply le_trans; [apply (sum_up_ok E_ok s (f := exp_high (numbers u) (- rate u k))); [now apply exp_high_ok | assumption] |]. rewrite ofQ_mul. fold beyond.
    assert (T : 0 <= (ofQ beyond : F)).
    { assert (K : value (p_weight k) (hi + 1) (skipn n (skipn f (above k))) <= p_weight k (hi + 1)%Z * ofQ beyond) by (apply (sum_up_ok E_ok s); [now apply exp_high_ok | assumption]).
      apply cut_by with (p_weight k (hi + 1)%Z); [now apply exp_gt0 |]. eapply le_trans; [| exact K].
      apply le_by with (value (p_weight k) (hi + 1) (skipn n (skipn f (above k)))); [ring | now apply value_ge0]. }
    apply le_by with ((ofQ (high_weight u k (hi + 1)) - p_weight k (hi + 1)%Z) * ofQ beyond); [unfold p_weight; ring |].
    apply le_mul; [apply sub_ge0; now apply exp_high_ok | assumption]. }
  assert (M0 : (0 <= m)%Q).
  { destruct (Qlt_le_dec m 0) as [Neg | P]; [exfalso | assumption]. apply (@ofQ_lt F) in Neg. apply Neg. rewrite ofQ_0.
    apply cut_by with (z_ (unit u)); [now apply unit_gt0 |]. unfold m. rewrite per_unit. eapply le_trans; [| exact Bs].
    apply le_by with (value (p_weight k) (hi + 1) (skipn n (skipn f (above k)))); [ring | now apply value_ge0]. }
  assert (Bw : bounded E (unit u) (p_weight k) (grid u k) (runs_of (copies k)) lo ((x + moved)%Z :: mid) more).
  { apply excess_more with (excess k + m)%Q; [apply le_up |]. rewrite <- Lo. rewrite Split in B.
    apply (window_bounded E_ok (Qlt_le_weak _ _ (grid_pos k)) W B); try assumption.
    - rewrite Lo. exact Mv.
    - rewrite Lo, Hi. unfold m. rewrite per_unit. exact Bs. }
  unfold known_ok. cbn [level low above excess p_labels q_labels sure copies].
  assert (Same : forall j, level j = level k -> copies j = copies k -> p_weight j = p_weight k /\ q_weight j = q_weight k /\ grid u j = grid u k).
  { intros j L C. unfold p_weight, q_weight, kappa, rate, grid. rewrite L, C. easy. }
  match goal with |- bounded _ _ (p_weight ?j) _ _ _ _ _ /\ _ => destruct (Same j eq_refl eq_refl) as (-> & -> & ->) end.
  split; [| split; [| split; [| split]]].
  - match goal with |- context [if ?e then _ else _] => destruct e eqn:En end; [| now rewrite Z.sub_0_r].
    set (less := Z.max _ _) in *. apply andb_prop in En as [En1 En2]. apply Qle_bool_iff in En1, En2.
    assert (Wh : (0 <= x + moved)%Z) by (destruct Bw as (Nw & _); apply Nw; now left).
    apply (surplus_bounded E_ok unit_pos (Qlt_le_weak _ _ (grid_pos k)) W (runs_good (c := copies k))); try assumption.
    + rewrite runs_whole. apply le_refl.
    + unfold less. lia.
    + right. set (ma := sum_down _ _ _) in *. set (wl := low_weight u k lo) in *.
      assert (Nw : no_less ((x + moved)%Z :: mid)) by apply Bw.
      destruct (sum_down_ok E_ok s (f := exp_low (numbers u) (- rate u k)) (kappa u k) (r := rate u k) (proj2 (exp_low_ok E_ok _ _)) (proj1 (exp_low_ok E_ok _ _)) Nw lo) as [_ D].
      fold ma in D. fold (p_weight k) in D. destruct (exp_low_ok E_ok (numbers u) (kappa u k - rate u k * inject_Z lo)) as [Wl0 Wl]. fold (low_weight u k lo) in Wl0, Wl. fold wl in Wl0, Wl.
      apply (@ofQ_le F) in En1, En2. rewrite ofQ_add, !ofQ_mul, ofQ_sub in En2. rewrite !ofZ_inject in *. fold (weight E (kappa u k) (rate u k) lo) in Wl. fold (p_weight k) in Wl.
      eapply le_trans; [exact En2 |]. simpl in D |- *. rewrite ofZ_sub, ofZ_add in *.
      set (r := value (p_weight k) (lo + 1) mid) in *.
      apply le_by with ((z_ x + z_ moved) * p_weight k lo + r - p_weight k lo * ofQ ma + (p_weight k lo - ofQ wl) * (ofQ ma - z_ less)); [ring |].
      apply add_ge0; [now apply sub_ge0 |]. apply le_mul; now apply sub_ge0.
  - apply (renamed_shown (f := inside lo hi)) with (1 := Sh). intros h H0. cbv zeta. rewrite !(@value_slice h _ f n _ (low k) lo hi) by (unfold f, n; lia). split; apply le_refl.
  - now apply no_less_firstn, no_less_skipn.
  - now apply no_less_firstn, no_less_skipn.
  - assumption. Qed.

(** Coarser grids *)
Lemma coarse_up (h h' : Z -> F) lower upper : (forall k, h (2 * k)%Z = h' k) ->
  (forall x k, (0 <= x)%Z -> z_ x * h (2 * k + 1)%Z <= z_ (lower x) * h' k + z_ (upper x) * h' (k + 1)%Z) ->
  forall n l, (length l <= n)%nat -> no_less l -> forall k carry, value h (2 * k) l + z_ carry * h' k <= value h' k (coarse lower upper carry l).
Proof.
  intros Ev Od. induction n as [| n IH]; intros [| x [| y l]] L N k carry; simpl in L; try lia; cbn [value coarse].
  - apply le_by with (0 : F); [ring | apply le_refl].
  - apply le_by with (0 : F); [ring | apply le_refl].
  - rewrite Ev, ofZ_add. apply le_by with (0 : F); [ring | apply le_refl].
  - replace (2 * k + 1 + 1)%Z with (2 * (k + 1))%Z by lia. rewrite Ev. rewrite !ofZ_add.
    assert (Nl : no_less l) by (intros z I; apply N; right; now right). specialize (IH l ltac:(lia) Nl (k + 1)%Z (upper y)).
    specialize (Od y k (N y (or_intror (or_introl eq_refl)))).
    set (v := value h (2 * (k + 1)) l) in *. set (v' := value h' (k + 1) (coarse lower upper (upper y) l)) in *.
    match type of Od with ?a <= ?b + ?c => apply le_by with ((b + c - a) + (v' - (v + c))) end; [ring | apply add_ge0; now apply sub_ge0]. Qed.

Lemma coarse_down (h h' : Z -> F) lower : (forall k, h (2 * k)%Z = h' k) ->
  (forall x k, (0 <= x)%Z -> z_ (lower x) * h' k <= z_ x * h (2 * k + 1)%Z) ->
  forall n l, (length l <= n)%nat -> no_less l -> forall k, value h' k (coarse lower (fun _ => 0%Z) 0%Z l) <= value h (2 * k) l.
Proof.
  intros Ev Od. change (ofZ F 0) with (0 : F). induction n as [| n IH]; intros [| x [| y l]] L N k; simpl in L; try lia; cbn [value coarse].
  - change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [ring | apply le_refl].
  - change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [ring | apply le_refl].
  - rewrite Ev, Z.add_0_r. apply le_by with (0 : F); [ring | apply le_refl].
  - replace (2 * k + 1 + 1)%Z with (2 * (k + 1))%Z by lia. rewrite Ev. rewrite Z.add_0_r, !ofZ_add.
    assert (Nl : no_less l) by (intros z I; apply N; right; now right). specialize (IH l ltac:(lia) Nl (k + 1)%Z).
    specialize (Od y k (N y (or_intror (or_introl eq_refl)))).
    set (v := value h (2 * (k + 1)) l) in *. set (v' := value h' (k + 1) (coarse lower (fun _ => 0%Z) 0%Z l)) in *.
    match type of Od with ?a <= ?b => apply le_by with ((b - a) + (v - v')) end; [ring | apply add_ge0; now apply sub_ge0]. Qed.

Lemma value_evened (h : Z -> F) lo l : value h (2 * (lo / 2)) (evened lo l) = value h lo l.
Proof.
  destruct l as [| x l]; [reflexivity |]. unfold evened. destruct (Z.odd lo) eqn:O.
  - assert (H : (2 * (lo / 2) + 1 = lo)%Z) by (pose proof (Z.div_mod lo 2 ltac:(lia)) as M; rewrite Zmod_odd, O in M; lia).
    cbn [value]. rewrite H. change (ofZ F 0) with (0 : F). ring.
  - pose proof (Z.div_mod lo 2 ltac:(lia)) as M. rewrite Zmod_odd, O, Z.add_0_r in M. now rewrite <- M. Qed.

Lemma no_less_evened lo l : no_less l -> no_less (evened lo l).
Proof. intro N. destruct l as [| x l]; [easy |]. unfold evened. destruct (Z.odd lo); [| assumption]. intros y [<- | I]; [lia | now apply N]. Qed.

Lemma no_less_coarse lower upper : (forall x, (0 <= x)%Z -> (0 <= lower x)%Z /\ (0 <= upper x)%Z) ->
  forall n l, (length l <= n)%nat -> no_less l -> forall carry, (0 <= carry)%Z -> no_less (coarse lower upper carry l).
Proof.
  intro Up. induction n as [| n IH]; intros [| x [| y l]] L N carry C; simpl in L; try lia; cbn [coarse].
  - intros z [<- | []]. assumption.
  - intros z [<- | []]. assumption.
  - intros z [<- | []]. specialize (N x (or_introl eq_refl)). lia.
  - destruct (Up y) as [U1 U2]; [apply N; right; now left |]. specialize (N x (or_introl eq_refl)) as X. intros z [<- | I]; [lia |].
    apply (IH l ltac:(lia)) in I; auto. intros t J. apply N. right. now right. Qed.

Lemma worth_eq g g' alpha z : (g == g')%Q -> worth E g alpha z = worth E g' alpha z.
Proof. intro H. unfold worth. do 3 f_equal. apply (exp_eq E_ok). now rewrite H. Qed.

Lemma ceiling_times x f : (0 <= f)%Q -> (0 <= x)%Z -> (0 <= ceiling_of (inject_Z x * f))%Z /\ z_ x * ofQ f <= z_ (ceiling_of (inject_Z x * f)).
Proof.
  intros F0 X. assert (X' : (0 <= inject_Z x)%Q) by (change 0%Q with (inject_Z 0); now rewrite <- Zle_Qle).
  split; [apply ceiling_ge0; nra |]. rewrite <- !ofZ_inject, <- ofQ_mul. apply ofQ_le, le_ceiling. Qed.

Lemma floor_times x f : (0 <= f)%Q -> (0 <= x)%Z -> (0 <= floor_of (inject_Z x * f))%Z /\ z_ (floor_of (inject_Z x * f)) <= z_ x * ofQ f.
Proof.
  intros F0 X. assert (X' : (0 <= inject_Z x)%Q) by (change 0%Q with (inject_Z 0); now rewrite <- Zle_Qle).
  split; [apply floor_ge0; nra |]. rewrite <- !ofZ_inject, <- ofQ_mul. apply ofQ_le, floor_le. Qed.

Theorem coarsened_ok k k' : known_ok k -> coarsened u k = Some k' -> known_ok k'.
Proof.
  intros (B & Sh & Np & Nq & Len) H. unfold coarsened in H. destruct (level k) as [| n] eqn:Lv; [discriminate |]. injection H as <-.
  set (p := numbers u). set (r := rate u k). set (g := grid u k). set (least := exp_low p (- g)). set (most := exp_high p (- g)).
  set (fr := exp_high p (- r)). set (rr := exp_high p r).
  set (lower := fun x => ceiling_of (inject_Z x * (fr * (most / (1 + least))))). set (upper := fun x => ceiling_of (inject_Z x * (rr * / (1 + least)))).
  set (low_p := fun x => floor_of (inject_Z x * exp_low p (- r))). set (up_q := fun x => ceiling_of (inject_Z x * exp_high p (- (r + g)))).
  match goal with |- known_ok ?j => set (k' := j) end.
  assert (G2 : (2 * g == grid u k')%Q).
  { unfold g, grid, k'. cbn [level]. rewrite Lv. cbn [finer]. pose proof (half_twice (finer (step u) n)) as T. fold (half (finer (step u) n)) in T. lra. }
  assert (R2 : (rate u k' == 2 * r)%Q) by (unfold rate at 1; rewrite <- G2; unfold r, rate, g; ring).
  assert (K2 : kappa u k' = kappa u k) by reflexivity.
  assert (Wp : forall z, p_weight k (2 * z)%Z = p_weight k' z).
  { intro z. unfold p_weight, weight. apply (exp_eq E_ok). rewrite K2, R2, inject_Z_mult. change (inject_Z 2) with 2%Q. unfold r. ring. }
  assert (Wq : forall z, q_weight k (2 * z)%Z = q_weight k' z).
  { intro z. unfold q_weight, weight. apply (exp_eq E_ok). rewrite K2, R2, <- G2, inject_Z_mult. change (inject_Z 2) with 2%Q. unfold r, g. ring. }
  destruct (exp_low_ok E_ok p (- g)) as [L0 L1]. fold least in L0, L1. pose proof (exp_high_ok E_ok p (- g)) as M1. fold most in M1.
  pose proof (@exp_high_ge0 F E E_ok p (- g)) as M0. fold most in M0. pose proof (@exp_high_ge0 F E E_ok p (- r)) as Fr0. fold fr in Fr0. pose proof (@exp_high_ge0 F E E_ok p r) as Rr0. fold rr in Rr0.
  assert (D0 : (0 <= / (1 + least))%Q) by (apply Qlt_le_weak, Qinv_lt_0_compat; lra).
  assert (D1 : (ofQ (/ (1 + least)) : F) * (1 + ofQ least) = 1).
  { rewrite <- (ofQ_1 F), <- ofQ_add, <- ofQ_mul, ofQ_1, <- (ofQ_1 F). apply ofQ_eq. field. intro Z0. lra. }
  set (d := / (1 + least)) in *. set (e := E (- g)%Q) in *. assert (e0 : 0 <= e) by now apply exp_ge0.
  assert (Dp : 0 <= (ofQ d : F)) by now apply ofQ_ge0.
  assert (B1 : e <= ofQ (most / (1 + least)) * (1 + e)).
  { unfold Qdiv. fold d. rewrite ofQ_mul. apply le_by with (ofQ d * ((ofQ most - e) * (1 + e) + e * (e - ofQ least)) + e * (ofQ d * (1 + ofQ least) - 1)); [ring |].
    rewrite D1. apply add_ge0; [| apply le_by with (0 : F); [ring | apply le_refl]]. apply le_mul; [assumption |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); try assumption.
    apply add_ge0; [apply one_ge0 | assumption]. }
  assert (B2 : 1 <= ofQ d * (1 + e)).
  { apply le_trans with (ofQ d * (1 + ofQ least)); [rewrite D1; apply le_refl |]. apply le_scale; [assumption |]. apply le_add2; [apply le_refl | assumption]. }
  assert (Fm0 : (0 <= fr * (most / (1 + least)))%Q) by (unfold Qdiv; fold d; assert (0 <= most * d)%Q by nra; nra).
  assert (Rm0 : (0 <= rr * d)%Q) by nra.
  assert (Lower : forall x, (0 <= x)%Z -> (0 <= lower x)%Z /\ z_ x * (ofQ fr * ofQ (most / (1 + least))) <= z_ (lower x)).
  { intros x X. unfold lower. rewrite <- ofQ_mul. now apply ceiling_times. }
  assert (Upper : forall x, (0 <= x)%Z -> (0 <= upper x)%Z /\ z_ x * (ofQ rr * ofQ d) <= z_ (upper x)).
  { intros x X. unfold upper. rewrite <- ofQ_mul. now apply ceiling_times. }
  pose proof (exp_high_ok E_ok p (- r)) as Fr. fold fr in Fr. pose proof (exp_high_ok E_ok p r) as Rr. fold rr in Rr.
  assert (Next : forall z, p_weight k (2 * z + 1)%Z = p_weight k' z * E (- r)%Q).
  { intro z. unfold p_weight. rewrite (weight_next E_ok). f_equal. apply Wp. }
  assert (Up : forall z, p_weight k' (z + 1)%Z = p_weight k (2 * z + 1)%Z * E (- r)%Q).
  { intro z. rewrite <- Wp. unfold p_weight. replace (2 * (z + 1))%Z with (2 * z + 1 + 1)%Z by lia. now rewrite (weight_next E_ok). }
  assert (NextQ : forall z, q_weight k (2 * z + 1)%Z = q_weight k' z * E (- (r + g))%Q).
  { intro z. unfold q_weight. rewrite (weight_next E_ok). f_equal. apply Wq. }
  assert (W' : forall z, 0 <= p_weight k' z) by (intro; now apply exp_ge0). assert (Wk : forall z, 0 <= p_weight k z) by (intro; now apply exp_ge0).
  assert (V' : forall z, 0 <= q_weight k' z) by (intro; now apply exp_ge0).
  destruct B as (Na & E0 & B). split; [split; [| split; [assumption |]] | split; [| split; [| split; [| assumption]]]].
  - change (above k') with (coarse lower upper 0%Z (evened (low k) (above k))). apply no_less_coarse with (n := length (evened (low k) (above k))); auto using no_less_evened; try lia.
    intros x X. split; [now apply Lower | now apply Upper].
  - intros alpha A. change (excess k') with (excess k). change (copies k') with (copies k). eapply le_trans; [now apply B |]. apply le_add2; [| apply le_refl].
    rewrite <- value_evened. change (above k') with (coarse lower upper 0%Z (evened (low k) (above k))). change (low k') with (low k / 2)%Z.
    eapply le_trans; [| apply (coarse_up (h := fun z => p_weight k z * worth E g alpha z) (h' := fun z => p_weight k' z * worth E (grid u k') alpha z) (lower := lower) (upper := upper)) with (n := length (evened (low k) (above k)))].
    + change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [unfold g; ring | apply le_refl].
    + intro z. rewrite Wp. f_equal. unfold worth. do 3 f_equal. apply (exp_eq E_ok). rewrite <- G2, inject_Z_mult. change (inject_Z 2) with 2%Q. ring.
    + intros x z X. assert (X0 : 0 <= z_ x) by now apply ofZ_ge0.
      replace (z_ x * (p_weight k (2 * z + 1)%Z * worth E g alpha (2 * z + 1))) with (z_ x * p_weight k (2 * z + 1)%Z * worth E g alpha (2 * z + 1)) by ring.
      assert (Half : ((2 * z + 1) / 2 = z)%Z) by (symmetry; apply (Z.div_unique _ 2 z 1); lia).
      eapply le_trans; [apply (coarser_worth E_ok (u := z_ (lower x) * p_weight k' z) (v := z_ (upper x) * p_weight k' (z + 1)%Z)); try assumption |].
      * rewrite Z.add_comm. now rewrite Z.odd_add_mul_2.
      * fold e. rewrite Next. destruct (Lower x X) as [_ Lx]. set (b := ofQ (most / (1 + least)) : F) in *. set (w := p_weight k' z) in *. pose proof (W' z) as W0. fold w in W0.
        assert (0 <= E (- r)%Q) by now apply exp_ge0. set (er := E (- r)%Q) in *. assert (b0 : 0 <= b) by (unfold b; apply ofQ_ge0; unfold Qdiv; fold d; nra).
        apply le_by with (w * ((z_ (lower x) - z_ x * (ofQ fr * b)) * (1 + e) + z_ x * ((ofQ fr - er) * b) * (1 + e) + z_ x * er * (b * (1 + e) - e))); [ring |].
        assert (0 <= 1 + e) by (apply add_ge0; [apply one_ge0 | assumption]).
        repeat apply add_ge0; repeat apply le_mul; repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption.
      * fold e. rewrite Up. destruct (Upper x X) as [_ Ux]. pose proof (exp_inverse E_ok r) as Inv. set (w := p_weight k (2 * z + 1)%Z) in *. pose proof (Wk (2 * z + 1)%Z) as W0. fold w in W0.
        set (ar := E r) in *. set (er := E (- r)%Q) in *. assert (0 <= er) by now apply exp_ge0. assert (0 <= ar) by now apply exp_ge0.
        assert (0 <= 1 + e) by (apply add_ge0; [apply one_ge0 | assumption]).
        apply le_by with (w * ((z_ (upper x) - z_ x * (ofQ rr * ofQ d)) * er * (1 + e) + z_ x * ((ofQ rr - ar) * ofQ d) * er * (1 + e) + z_ x * (ofQ d * (1 + e) - 1) * (ar * er)) + w * z_ x * (ar * er - 1)); [ring |].
        rewrite Inv. apply add_ge0; [| apply le_by with (0 : F); [ring | apply le_refl]]. apply le_mul; [assumption |].
        repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply one_ge0.
      * apply le_mul; [assumption | apply Wk].
      * rewrite Half. rewrite !(worth_eq alpha _ G2). apply le_by with (0 : F); [ring | apply le_refl].
    + lia.
    + now apply no_less_evened.
  - apply (renamed_shown (f := fun z => Some (z / 2)%Z)) with (1 := Sh). intros h H0. cbv zeta. change (low k') with (low k / 2)%Z.
    assert (Half : forall z, (2 * z / 2 = z)%Z) by (intro z; symmetry; apply (Z.div_unique _ 2 z 0); lia).
    assert (Half1 : forall z, ((2 * z + 1) / 2 = z)%Z) by (intro z; symmetry; apply (Z.div_unique _ 2 z 1); lia).
    split.
    + change (p_labels k') with (match p_labels k with [] => [] | _ => coarse low_p (fun _ => 0%Z) 0%Z (evened (low k) (p_labels k)) end).
      destruct (p_labels k) as [| x l] eqn:Pl; [simpl; apply le_refl |]. rewrite <- Pl in *. rewrite <- (value_evened _ (low k) (p_labels k)).
      apply (coarse_down (h := fun z => p_weight k z * h (z / 2)%Z) (h' := fun z => p_weight k' z * h z)) with (n := length (evened (low k) (p_labels k))); auto using no_less_evened.
      * intro z. now rewrite Wp, Half.
      * intros y z Y. rewrite Next, Half1. destruct (exp_low_ok E_ok p (- r)) as [T0 T1]. destruct (floor_times T0 Y) as [_ Fl]. fold (low_p y) in Fl.
        apply le_by with (p_weight k' z * h z * ((z_ y * ofQ (exp_low p (- r)) - z_ (low_p y)) + z_ y * (E (- r)%Q - ofQ (exp_low p (- r))))); [ring |].
        apply le_mul; [apply le_mul; [apply W' | apply H0] |]. apply add_ge0; [now apply sub_ge0 | apply le_mul; [now apply ofZ_ge0 | now apply sub_ge0]].
    + change (q_labels k') with (match q_labels k with [] => [] | _ => coarse up_q (fun _ => 0%Z) 0%Z (evened (low k) (q_labels k)) end).
      destruct (q_labels k) as [| x l] eqn:Ql; [simpl; apply le_refl |]. rewrite <- Ql in *. rewrite <- (value_evened _ (low k) (q_labels k)).
      eapply le_trans; [| apply (coarse_up (h := fun z => q_weight k z * h (z / 2)%Z) (h' := fun z => q_weight k' z * h z)) with (n := length (evened (low k) (q_labels k))); auto using no_less_evened].
      * change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [ring | apply le_refl].
      * intro z. now rewrite Wq, Half.
      * intros y z Y. rewrite NextQ, Half1. change (ofZ F 0) with (0 : F). pose proof (exp_high_ok E_ok p (- (r + g))) as T1. destruct (ceiling_times (@exp_high_ge0 F E E_ok p (- (r + g))) Y) as [_ Ce]. fold (up_q y) in Ce.
        apply le_by with (q_weight k' z * h z * ((z_ (up_q y) - z_ y * ofQ (exp_high p (- (r + g)))) + z_ y * (ofQ (exp_high p (- (r + g))) - E (- (r + g))%Q))); [ring |].
        apply le_mul; [apply le_mul; [apply V' | apply H0] |]. apply add_ge0; [now apply sub_ge0 | apply le_mul; [now apply ofZ_ge0 | now apply sub_ge0]].
  - change (p_labels k') with (match p_labels k with [] => [] | _ => coarse low_p (fun _ => 0%Z) 0%Z (evened (low k) (p_labels k)) end).
    destruct (p_labels k) as [| x l] eqn:Pl; [easy |]. rewrite <- Pl in *. apply no_less_coarse with (n := length (evened (low k) (p_labels k))); auto using no_less_evened; try lia.
    intros y Y. split; [| lia]. apply (floor_times (proj1 (exp_low_ok E_ok p (- r))) Y).
  - change (q_labels k') with (match q_labels k with [] => [] | _ => coarse up_q (fun _ => 0%Z) 0%Z (evened (low k) (q_labels k)) end).
    destruct (q_labels k) as [| x l] eqn:Ql; [easy |]. rewrite <- Ql in *. apply no_less_coarse with (n := length (evened (low k) (q_labels k))); auto using no_less_evened; try lia.
    intros y Y. split; [| lia]. apply (ceiling_times (@exp_high_ge0 F E E_ok p (- (r + g))) Y). Qed.

(** Products *)
Lemma runs_plus a b : map N.to_nat (plus_copies a b) = plus_runs (map N.to_nat a) (map N.to_nat b).
Proof. revert b. induction a as [| x a IH]; intros [| y b]; simpl; try reflexivity. now rewrite IH, N2Nat.inj_add. Qed.

Lemma scale_plus sc : forall a b, length a = length b -> (scale_of sc (plus_copies a b) == scale_of sc a + scale_of sc b)%Q.
Proof.
  induction sc as [| x sc IH]; intros [| n a] [| m b] L; simpl in *; try easy; try (ring). injection L as L.
  rewrite IH by assumption. rewrite N2Z.inj_add, inject_Z_plus. ring. Qed.

Lemma length_plus_copies a : forall b, length a = length b -> length (plus_copies a b) = length a.
Proof. induction a as [| x a IH]; intros [| y b] L; simpl in *; try easy. injection L as L. now rewrite IH. Qed.

Lemma bounded_same (w : weights F) g mu nu lo a e : same_gains mu nu -> bounded E (unit u) w g mu lo a e -> bounded E (unit u) w g nu lo a e.
Proof. intros S (N & E0 & B). split; [assumption |]. split; [assumption |]. intros alpha A. rewrite <- S by assumption. now apply B. Qed.

Lemma shown_same (w v : weights F) mu nu lo p q s : same_gains mu nu -> shown (unit u) w v mu lo p q s -> shown (unit u) w v nu lo p q s.
Proof.
  intros S (L & G & M & D & R). exists L. split; [assumption |]. split; [assumption |]. split; [| assumption]. intros alpha A. rewrite <- S by assumption. now apply D. Qed.

(** Labels may be forgotten. *)
Lemma shown_none (w v w' v' : weights F) mu lo p q s lo' : shown (unit u) w v mu lo p q s -> no_less q -> weighty v -> shown (unit u) w' v' mu lo' [] [] s.
Proof.
  intros Sh N V. apply (renamed_shown (f := fun _ => None)) with (1 := Sh). intros h H. cbv zeta. simpl.
  assert (Z : forall (x : weights F) l lo, value (fun z => x z * 0) lo l = 0).
  { intros x l. induction l as [| y l IH]; intro l0; simpl; [reflexivity |]. rewrite IH. ring. }
  rewrite !Z. split; apply le_refl. Qed.

Lemma no_less_rounded_up a b : no_less a -> no_less b -> a <> [] -> b <> [] -> no_less (rounded_up_product (unit u) a b).
Proof.
  intros A B Ea Eb. unfold rounded_up_product. rewrite (product_ok A B Ea Eb). intros x I. apply in_map_iff in I. destruct I as (y & <- & J).
  specialize (no_less_conv A B J) as Y. pose proof (Z.mul_div_le (- y) (unit u) unit_pos). nia. Qed.

Lemma no_less_rounded_down a b : no_less a -> no_less b -> a <> [] -> b <> [] -> no_less (rounded_down_product (unit u) a b).
Proof.
  intros A B Ea Eb. unfold rounded_down_product. rewrite (product_ok A B Ea Eb). intros x I. apply in_map_iff in I. destruct I as (y & <- & J).
  specialize (no_less_conv A B J) as Y. now apply Z.div_pos. Qed.

Lemma shown_sure (w v : weights F) mu lo p q s : shown (unit u) w v mu lo p q s -> (0 <= s <= 1)%Q.
Proof.
  intros (L & G & M & D & V & S & S0 & Z). split; [assumption |]. destruct (Qlt_le_dec 1 s) as [H | H]; [exfalso | assumption].
  apply (@ofQ_lt F) in H. apply H. rewrite ofQ_1, <- M. eapply le_trans; [exact S |]. unfold mass. rewrite sum_map. apply sum_le. intros [l [x y]] I. simpl.
  assert (X : 0 <= x) by (apply (G x y); now apply (in_map snd) in I). destruct l; simpl; [apply le_by with x; [ring | assumption] | apply le_by with (0 : F); [ring | apply le_refl] | apply le_by with x; [ring | assumption]]. Qed.

Theorem multiplied_ok k m k' : known_ok k -> known_ok m -> multiplied u k m = Some k' -> known_ok k'.
Proof.
  intros (B & Sh & Np & Nq & Len) (Bm & Shm & Npm & Nqm & Lenm) H. unfold multiplied in H.
  destruct (above k) as [| xk ak] eqn:Ak; [discriminate |]. destruct (above m) as [| xm am] eqn:Am; [discriminate |]. rewrite <- Ak, <- Am in *.
  destruct (Nat.eqb (level k) (level m)) eqn:Lv; [| discriminate]. apply Nat.eqb_eq in Lv.
  set (s := kept (numbers u)) in *. set (mass_k := per u (high_weight u k (low k) * sum_up s (exp_high (numbers u) (- rate u k)) (above k))) in *.
  assert (Gk : grid u m = grid u k) by (unfold grid; now rewrite Lv). assert (Rk : rate u m = rate u k) by (unfold rate; now rewrite Gk).
  assert (Lc : length (copies k) = length (copies m)) by congruence.
  assert (Nak : no_less (above k)) by apply B. assert (Nam : no_less (above m)) by apply Bm.
  assert (Nek : above k <> []) by (rewrite Ak; easy). assert (Nem : above m <> []) by (rewrite Am; easy).
  set (exc := up s (excess k + mass_k * excess m)) in *. set (su := down s (sure k + sure m - sure k * sure m)) in *. set (co := plus_copies (copies k) (copies m)) in *.
  assert (Run : same_gains (times (runs_of (copies k)) (runs_of (copies m))) (runs_of co)).
  { apply same_sym. unfold runs_of, co. rewrite runs_plus. apply joint_add; [assumption | now rewrite map_length | now rewrite map_length]. }
  set (kap := scale_of (scales u) co). assert (Kap : (kap == kappa u k + kappa u m)%Q) by (unfold kap, co; now apply scale_plus).
  set (w2 := weight E kap (rate u k)). set (v2 := weight E kap (rate u k + grid u k)).
  assert (Mw : forall z y, p_weight k z * p_weight m y = w2 (z + y)%Z).
  { intros z y. unfold p_weight, w2. rewrite Rk, (weight_mul E_ok). apply (weight_eq E_ok); [now rewrite Kap | reflexivity]. }
  assert (Mv : forall z y, q_weight k z * q_weight m y = v2 (z + y)%Z).
  { intros z y. unfold q_weight, v2. rewrite Rk, Gk, (weight_mul E_ok). apply (weight_eq E_ok); [now rewrite Kap | reflexivity]. }
  assert (W : forall a b, weighty (weight E a b)) by (intros a b z; now apply exp_ge0).
  assert (Mass : value (p_weight k) (low k) (above k) <= z_ (unit u) * ofQ mass_k /\ (0 <= mass_k)%Q).
  { assert (K : value (p_weight k) (low k) (above k) <= p_weight k (low k) * ofQ (sum_up s (exp_high (numbers u) (- rate u k)) (above k))) by (apply (sum_up_ok E_ok s); [now apply exp_high_ok | assumption]).
    set (t := sum_up s _ _) in *. assert (V : 0 <= value (p_weight k) (low k) (above k)) by (apply value_ge0; [assumption | apply W]).
    assert (T : 0 <= (ofQ t : F)).
    { apply cut_by with (p_weight k (low k)); [now apply exp_gt0 |]. eapply le_trans; [| exact K]. apply le_by with (value (p_weight k) (low k) (above k)); [ring | assumption]. }
    assert (K2 : value (p_weight k) (low k) (above k) <= z_ (unit u) * ofQ mass_k).
    { unfold mass_k. rewrite per_unit, ofQ_mul. eapply le_trans; [exact K |].
      apply le_by with ((ofQ (high_weight u k (low k)) - p_weight k (low k)) * ofQ t); [ring |]. apply le_mul; [apply sub_ge0; now apply exp_high_ok | assumption]. }
    split; [exact K2 |]. destruct (Qlt_le_dec mass_k 0) as [Neg | P]; [exfalso | assumption]. apply (@ofQ_lt F) in Neg. apply Neg. rewrite ofQ_0.
    apply cut_by with (z_ (unit u)); [now apply unit_gt0 |]. eapply le_trans; [| exact K2]. apply le_by with (value (p_weight k) (low k) (above k)); [ring | assumption]. }
  destruct Mass as [Mass Mass0]. assert (Ek : (0 <= excess k)%Q) by apply B. assert (Em : (0 <= excess m)%Q) by apply Bm.
  assert (New : bounded E (unit u) w2 (grid u k) (runs_of co) (low k + low m) (rounded_up_product (unit u) (above k) (above m)) exc).
  { apply (bounded_same Run). rewrite Gk in Bm. apply (@product_bounded F E E_ok (unit u) unit_pos (grid u k) (p_weight k) (p_weight m) w2 (runs_of (copies k)) (runs_of (copies m)) (low k) (low m) (above k) (above m) (excess k) (excess m) _ exc mass_k);
      try assumption; try apply W; try apply runs_good.
    - rewrite runs_whole. apply le_refl.
    - rewrite <- (product_ok Nak Nam Nek Nem). now apply up_product.
    - now apply no_less_rounded_up.
    - split; [nra | apply le_up]. }
  destruct (shown_sure Sh) as [S0 S1]. destruct (shown_sure Shm) as [S2 S3].
  assert (Su : (0 <= su)%Q /\ (su <= sure k + sure m - sure k * sure m)%Q) by (split; [apply down_ge0; nra | apply down_le]).
  assert (Any : forall p q, Forall2 (fun v w => (unit u * w <= v)%Z) (conv (p_labels k) (p_labels m)) p -> Forall2 (fun v w => (v <= unit u * w)%Z) (conv (q_labels k) (q_labels m)) q ->
    shown (unit u) w2 v2 (runs_of co) (low k + low m) p q su).
  { intros p q Fp Fq. apply (shown_same Run). apply (product_shown unit_pos (W _ _) (W _ _) (W _ _) (W _ _) Mw Mv (runs_good (c := copies k)) (runs_good (c := copies m)) Npm Nqm Sh Shm Fp Fq); apply Su. }
  assert (Lco : length co = length laws) by (unfold co; rewrite length_plus_copies; assumption).
  assert (None_ : shown (unit u) w2 v2 (runs_of co) (low k + low m) [] [] su).
  { apply (@shown_none w2 v2 w2 v2 (runs_of co) (low k + low m)%Z (map (fun x => (x / unit u)%Z) (conv (p_labels k) (p_labels m))) (map (fun x => (- (- x / unit u))%Z) (conv (q_labels k) (q_labels m)))).
    - apply Any.
      + clear - unit_pos. induction (conv (p_labels k) (p_labels m)) as [| x l IH]; simpl; [constructor | constructor; [now apply Z.mul_div_le | assumption]].
      + clear - unit_pos. induction (conv (q_labels k) (q_labels m)) as [| x l IH]; simpl; [constructor | constructor; [| assumption]]. pose proof (Z.mul_div_le (- x) (unit u) unit_pos). lia.
    - intros x I. apply in_map_iff in I. destruct I as (y & <- & J). specialize (no_less_conv Nq Nqm J) as Y. pose proof (Z.mul_div_le (- y) (unit u) unit_pos). nia.
    - apply W. }
  assert (Done : forall p q, no_less p -> no_less q -> shown (unit u) w2 v2 (runs_of co) (low k + low m) p q su ->
    known_ok {| level := level k; low := (low k + low m)%Z; above := rounded_up_product (unit u) (above k) (above m); excess := exc; p_labels := p; q_labels := q; sure := su; copies := co |}).
  { intros p q P Q Sp. split; [exact New |]. split; [exact Sp |]. now repeat split. }
  assert (Full : p_labels k <> [] -> q_labels k <> [] -> p_labels m <> [] -> q_labels m <> [] ->
    known_ok {| level := level k; low := (low k + low m)%Z; above := rounded_up_product (unit u) (above k) (above m); excess := exc;
      p_labels := rounded_down_product (unit u) (p_labels k) (p_labels m); q_labels := rounded_up_product (unit u) (q_labels k) (q_labels m); sure := su; copies := co |}).
  { intros A1 A2 A3 A4. apply Done; [now apply no_less_rounded_down | now apply no_less_rounded_up |]. apply Any.
    - rewrite <- product_ok by assumption. now apply down_product.
    - rewrite <- product_ok by assumption. now apply up_product. }
  assert (Empty : known_ok {| level := level k; low := (low k + low m)%Z; above := rounded_up_product (unit u) (above k) (above m); excess := exc; p_labels := []; q_labels := []; sure := su; copies := co |}) by (apply Done; [easy | easy | exact None_]).
  clear - H Full Empty Ak Am. destruct (p_labels k) eqn:P1; [injection H as <-; exact Empty |]. destruct (q_labels k) eqn:Q1; [injection H as <-; exact Empty |].
  destruct (p_labels m) eqn:P2; [injection H as <-; exact Empty |]. destruct (q_labels m) eqn:Q2; [injection H as <-; exact Empty |]. injection H as <-. now apply Full. Qed.

End Sound.

(** * The checker of compositions of mechanisms with finite laws (docs/certificates/composition.md) *)

From Coq Require Import ZArith NArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Accountant AccountantNumbers CheckCompositionGrid CheckCompositionLaws.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** ** Computations (rules O3 and O4) *)
Inductive instruction := Cells (factor level : nat) (lo hi : Z) | Coarsen (one : nat) (lo hi : Z) | Multiply (one other : nat) (lo hi : Z).

(* Mechanisms with how often they run, and code without proof that guesses: logarithms, and a threshold for labels. *)
Definition factors := list (mechanism * N).
Record guesses := { log : Q -> Q; log_low : Q -> Q; log_high : Q -> Q; threshold : units -> known -> Q -> Z }.

Definition performed (h : guesses) (u : units) (labels : bool) (ms : list mechanism) (made : list known) (i : instruction) : option known := match i with
  | Cells factor level lo hi => cells (log h) u labels ms factor level lo hi
  | Coarsen one lo hi => match nth_error made one with
    | Some k => match coarsened u k with Some k' => window u k' lo hi | None => None end
    | None => None
    end
  | Multiply one other lo hi => match nth_error made one, nth_error made other with
    | Some k, Some m => match multiplied u k m with Some k' => window u k' lo hi | None => None end
    | _, _ => None
    end
  end.

Fixpoint run (h : guesses) (u : units) (labels : bool) (ms : list mechanism) (made : list known) (l : list instruction) : option (list known) := match l with
  | [] => Some made
  | i :: l' => match performed h u labels ms made i with Some k => run h u labels ms (made ++ [k]) l' | None => None end
  end.

Definition units_ok (u : units) : bool := Z.ltb 0 (unit u) && negb (Qle_bool (step u) 0).
Fixpoint same_copies (a b : list N) : bool := match a, b with
  | [], [] => true
  | x :: a', y :: b' => N.eqb x y && same_copies a' b'
  | _, _ => false
  end.

(** A computation, and what is known in the end: of every mechanism as often as it runs. *)
Record tape := { units_of : units; labels : bool; instructions : list instruction }.

Definition steps_hold (h : guesses) (fs : factors) (t : tape) : bool :=
  units_ok (units_of t) && match run h (units_of t) (labels t) (map fst fs) [] (instructions t) with Some _ => true | None => false end.

Definition result (h : guesses) (fs : factors) (t : tape) : option (units * known) :=
  if units_ok (units_of t) then
    match run h (units_of t) (labels t) (map fst fs) [] (instructions t) with
    | Some made => match rev_append made [] with
      | k :: _ => if same_copies (copies k) (map snd fs) then Some (units_of t, k) else None
      | [] => None
      end
    | None => None
    end
  else None.

Fixpoint results (h : guesses) (fs : factors) (l : list tape) : option (list (units * known)) := match l with
  | [] => Some []
  | t :: l' => match result h fs t, results h fs l' with Some k, Some ks => Some (k :: ks) | _, _ => None end
  end.

(** ** Bounds on delta *)
Definition tape_upper (epsilon bound : Q) (uk : units * known) : bool :=
  let '(u, k) := uk in
  let g := grid u k in
  let n := numbers u in
  let first := Z.max (floor_of (epsilon / g) + 1) (low k) in
  match skipn (Z.to_nat (first - low k)) (above k) with
  | [] => Qle_bool (excess k) bound
  | rest =>
    let whole := sum_up (kept n) (exp_high n (- rate u k)) rest in
    let part := sum_down (kept n) (exp_low n (- (rate u k + g))) rest in
    let x := (whole - exp_low n (epsilon - g * inject_Z first) * part)%Q in
    Qle_bool 0 x && Qle_bool (per u (high_weight u k first * x) + excess k) bound
  end.

Definition tape_lower (epsilon : Q) (t : Z) (uk : units * known) : Q :=
  let '(u, k) := uk in
  let g := grid u k in
  let n := numbers u in
  let i := Z.to_nat (t - low k) in
  let spot := (low k + Z.of_nat i)%Z in
  let p := sum_down (kept n) (exp_low n (- rate u k)) (skipn i (p_labels k)) in
  let q := sum_up (kept n) (exp_high n (- (rate u k + g))) (skipn i (q_labels k)) in
  let x := (p - exp_high n (epsilon - g * inject_Z spot) * q)%Q in
  (per u (low_weight u k spot * above0 x) + sure k)%Q.

(** One run (rule O5). *)
Definition atom_upper (n : precision) (epsilon : Q) (a : atom) : Q :=
  match loss a with Some x => if Qle_bool x epsilon then 0 else above0 (p_high a - exp_low n epsilon * q_low a) | None => above0 (p_high a - exp_low n epsilon * q_low a) end.
Definition atom_lower (n : precision) (epsilon : Q) (a : atom) : Q := above0 (p_low a - exp_high n epsilon * q_high a).
Definition alone (fs : factors) : option mechanism := match fs with [(m, 1%N)] => Some m | _ => None end.
Definition total_of (f : atom -> Q) (l : list atom) : Q := fold_right (fun a rest => (f a + rest)%Q) 0%Q l.

(** Probabilities of infinite losses, and largest losses. *)
Fixpoint raised_by (f : Q -> Q) (x : Q) (n : positive) : Q := match n with
  | xH => f x
  | xO n' => let r := raised_by f x n' in f (r * r)%Q
  | xI n' => let r := raised_by f x n' in f (x * f (r * r))%Q
  end.
Definition power_by (f : Q -> Q) (x : Q) (n : N) : Q := match n with N0 => 1%Q | Npos p => raised_by f x p end.
Definition finite_by (f : Q -> Q) (fs : factors) : Q := fold_right (fun (mr : mechanism * N) rest => f (power_by f (1 - sure_of (fst mr)) (snd mr) * rest)%Q) 1%Q fs.

(* A loss that no finite one exceeds, and one that is reached, if the guesses are right. *)
Definition cap_of (h : guesses) (n : precision) (m : mechanism) : option Q := match m with
  | Private e _ => Some e
  | Response t l => if Qeq_bool t l then Some 0%Q else let c := log_high h (t / l) in if Qle_bool 0 c && Qle_bool t (exp_low n c * l) then Some c else None
  end.
Definition reach_of (h : guesses) (n : precision) (m : mechanism) : option Q := match m with
  | Private e _ => Some e
  | Response t l => if Qeq_bool t l then Some 0%Q else let r := log_low h (t / l) in if Qle_bool (exp_high n r * l) t then Some r else None
  end.
Fixpoint sum_of (f : mechanism -> option Q) (fs : factors) : option Q := match fs with
  | [] => Some 0%Q
  | (m, r) :: fs' => match f m, sum_of f fs' with Some x, Some y => Some (inject_Z (Z.of_N r) * x + y)%Q | _, _ => None end
  end.

Definition upper_ok (h : guesses) (n : precision) (fs : factors) (knowns : list (units * known)) (epsilon bound : Q) : bool :=
  Qle_bool 1 bound
  || existsb (tape_upper epsilon bound) knowns
  || match alone fs with Some m => Qle_bool (total_of (atom_upper n epsilon) (atoms_of (log h) n m) + up (kept n) (sure_of m)) bound | None => false end
  || match sum_of (cap_of h n) fs with Some c => Qle_bool c epsilon && Qle_bool (1 - finite_by (down (kept n)) fs) bound | None => false end.

Definition lower_ok (holds : Q -> bool) (h : guesses) (n : precision) (fs : factors) (knowns : list (units * known)) (epsilon : Q) : bool :=
  existsb (fun uk => holds (tape_lower epsilon (threshold h (fst uk) (snd uk) epsilon) uk)) knowns
  || match alone fs with Some m => holds (total_of (atom_lower n epsilon) (atoms_of (log h) n m) + down (kept n) (sure_of m))%Q | None => false end
  || holds (1 - finite_by (up (kept n)) fs)%Q.

(** ** Claims (rules O6 and O7) *)
Inductive claim := At_epsilon (epsilon lower upper : Q) | At_delta (delta lower upper : Q).

Definition more_than (d x : Q) : bool := negb (Qle_bool x d).

(* How finely a claim is looked at is no matter of proof. *)
Definition claim_ok (h : guesses) (fs : factors) (knowns : list (units * known)) (nc : precision * claim) : bool := let n := fst nc in match snd nc with
  | At_epsilon e lo up => Qle_bool 0 e && upper_ok h n fs knowns e up && (Qle_bool lo 0 || lower_ok (Qle_bool lo) h n fs knowns e)
  | At_delta d lo up => Qle_bool 0 up && Qle_bool 0 d && upper_ok h n fs knowns up d &&
    (Qle_bool lo 0 || lower_ok (more_than d) h n fs knowns lo
     || (Qle_bool d 0 && match sum_of (reach_of h n) fs with Some r => Qle_bool lo r | None => false end))
  end.

Definition check_composition (h : guesses) (fs : factors) (tapes : list tape) (claims : list (precision * claim)) : bool :=
  forallb (fun mr => mechanism_ok (fst mr)) fs &&
  match results h fs tapes with Some knowns => forallb (claim_ok h fs knowns) claims | None => false end.

(** For the code around it: records by their parts. *)
Definition precision_with (fine kept_at : positive) (n : nat) : precision := {| scale := fine; halvings := n; kept := kept_at |}.
Definition units_with (whole : Z) (last falling : Q) (factors_of : list Q) (n : precision) : units := {| unit := whole; step := last; tilt := falling; scales := factors_of; numbers := n |}.
Definition shown_of (u : units) (k : known) : (Q * Q) * (Z * (list Z * list Z)) := ((grid u k, rate u k), (low k, (p_labels k, q_labels k))).

Section Sound.
Variable F : OrderedField.
Add Field F_field6 : (field_ok F).
Local Open Scope field_scope.
Variable E : Q -> F.
Hypothesis E_ok : exponential E.
Notation z_ := (ofZ F).

(** All mechanisms together, each as often as it runs. *)
Definition jointly (fs : factors) : law F := runs_of (map (fun mr => law_of E (fst mr)) fs) (map snd fs).

(** What is claimed: bounds on delta at an epsilon; or at an epsilon delta is at most this, and more at each that is smaller than the lower bound. *)
Definition claim_true (mu : law F) (c : claim) : Prop := match c with
  | At_epsilon e lo up => ofQ lo <= gain (E e) mu <= ofQ up
  | At_delta d lo up => gain (E up) mu <= ofQ d /\ forall e, (0 <= e)%Q -> (e < lo)%Q -> ofQ d < gain (E e) mu
  end.

Lemma gain_anti (mu : law F) (a b : F) : good mu -> a <= b -> gain b mu <= gain a mu.
Proof.
  intros G H. apply sum_le. intros [p q] I. apply pos_mono. simpl. destruct (G p q I) as [_ Q0]. apply le_by with ((b - a) * q); [ring |]. apply le_mul; [now apply sub_ge0 | assumption]. Qed.

(** *** Infinite losses *)
Definition finite (mu : law F) : F := sum mu (fun e => if eq_dec (snd e) 0 then 0 else fst e).

Lemma finite_times l m : finite (times l m) = finite l * finite m.
Proof.
  unfold finite. rewrite sum_times. transitivity (sum l (fun a => sum m (fun e => if eq_dec (snd e) 0 then 0 else fst e) * (if eq_dec (snd a) 0 then 0 else fst a))); [| rewrite sum_scale; ring].
  apply sum_ext. intros [p q] _. simpl. destruct (eq_dec q 0) as [-> | N].
  - transitivity (sum m (fun _ => (0 : F))); [| rewrite sum_0; ring]. apply sum_ext. intros [p' q'] _. simpl. destruct (eq_dec (0 * q') 0) as [_ | N]; [reflexivity |]. exfalso. apply N. ring.
  - transitivity (sum m (fun e => p * (if eq_dec (snd e) 0 then 0 else fst e))); [| rewrite sum_scale; ring]. apply sum_ext. intros [p' q'] _. simpl.
    destruct (eq_dec q' 0) as [-> | N']; destruct (eq_dec (q * _) 0) as [Z | N2]; try ring; exfalso; [apply N2; ring |].
    apply N'. replace q' with (q * q' * inv q) by (field; assumption). rewrite Z. ring. Qed.

Fixpoint raised_F (x : F) (n : nat) : F := match n with O => 1 | S n' => x * raised_F x n' end.

Lemma raised_F_add x n m : raised_F x (n + m) = raised_F x n * raised_F x m.
Proof. induction n as [| n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma finite_nothing : finite (nothing F) = 1.
Proof. unfold finite, nothing. simpl. destruct (eq_dec (1 : F) 0) as [Z | _]; [exfalso; now apply (lt_neq (one_gt0 (F := F))) | ring]. Qed.

Lemma finite_power l n : finite (power l n) = raised_F (finite l) n.
Proof. induction n as [| n IH]; simpl; [apply finite_nothing | now rewrite finite_times, IH]. Qed.

Lemma raised_F_ge0 x n : 0 <= x -> 0 <= raised_F x n.
Proof. intro X. induction n as [| n IH]; simpl; [apply one_ge0 | now apply le_mul]. Qed.

Lemma raised_up s x p (y : F) : 0 <= y -> y <= ofQ x -> raised_F y (Pos.to_nat p) <= ofQ (raised_by (up s) x p).
Proof.
  intros Y X. assert (X0 : 0 <= (ofQ x : F)) by now apply le_trans with y.
  assert (U : forall q : Q, (ofQ q : F) <= ofQ (up s q)) by (intro; apply ofQ_le, le_up).
  induction p as [p IH | p IH |]; simpl raised_by.
  - rewrite Pos2Nat.inj_xI. set (r := raised_by (up s) x p) in *. set (z := raised_F y (Pos.to_nat p)) in *. assert (Z0 : 0 <= z) by now apply raised_F_ge0.
    replace (S (2 * Pos.to_nat p)) with (1 + (Pos.to_nat p + Pos.to_nat p))%nat by lia. rewrite !raised_F_add. fold z. simpl raised_F.
    eapply le_trans; [| apply U]. rewrite ofQ_mul. pose proof (U (r * r)%Q) as U1. rewrite ofQ_mul in U1.
    assert (R0 : 0 <= (ofQ r : F)) by now apply le_trans with z. set (w := ofQ (up s (r * r)) : F) in *.
    apply le_by with ((ofQ x - y) * w + y * ((w - ofQ r * ofQ r) + (ofQ r - z) * ofQ r + z * (ofQ r - z))); [ring |].
    assert (0 <= w) by (eapply le_trans; [| exact U1]; now apply le_mul).
    repeat apply add_ge0; repeat apply le_mul; repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption.
  - rewrite Pos2Nat.inj_xO. set (r := raised_by (up s) x p) in *. set (z := raised_F y (Pos.to_nat p)) in *. assert (Z0 : 0 <= z) by now apply raised_F_ge0.
    replace (2 * Pos.to_nat p)%nat with (Pos.to_nat p + Pos.to_nat p)%nat by lia. rewrite raised_F_add. fold z. eapply le_trans; [| apply U]. rewrite ofQ_mul.
    assert (R0 : 0 <= (ofQ r : F)) by now apply le_trans with z.
    apply le_by with ((ofQ r - z) * ofQ r + z * (ofQ r - z)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); assumption.
  - simpl. eapply le_trans; [| apply U]. apply le_by with (ofQ x - y); [ring | now apply sub_ge0]. Qed.

Lemma raised_down s x p (y : F) : (0 <= x)%Q -> ofQ x <= y -> (0 <= raised_by (down s) x p)%Q /\ ofQ (raised_by (down s) x p) <= raised_F y (Pos.to_nat p).
Proof.
  intros X Y. assert (X0 : 0 <= (ofQ x : F)) by now apply ofQ_ge0. assert (Y0 : 0 <= y) by now apply le_trans with (ofQ x).
  assert (D : forall q : Q, (ofQ (down s q) : F) <= ofQ q) by (intro; apply ofQ_le, down_le).
  induction p as [p [I0 IH] | p [I0 IH] |]; simpl raised_by.
  - rewrite Pos2Nat.inj_xI. set (r := raised_by (down s) x p) in *. set (z := raised_F y (Pos.to_nat p)) in *. assert (Z0 : 0 <= z) by now apply raised_F_ge0.
    assert (W0 : (0 <= down s (r * r))%Q) by (apply down_ge0; nra). split; [apply down_ge0; nra |].
    replace (S (2 * Pos.to_nat p)) with (1 + (Pos.to_nat p + Pos.to_nat p))%nat by lia. rewrite !raised_F_add. fold z. simpl raised_F.
    eapply le_trans; [apply D |]. rewrite ofQ_mul. pose proof (D (r * r)%Q) as U1. rewrite ofQ_mul in U1. assert (R0 : 0 <= (ofQ r : F)) by now apply ofQ_ge0. assert (W1 : 0 <= (ofQ (down s (r * r)) : F)) by now apply ofQ_ge0.
    set (w := ofQ (down s (r * r)) : F) in *.
    apply le_by with ((y - ofQ x) * w + y * ((ofQ r * ofQ r - w) + (z - ofQ r) * z + ofQ r * (z - ofQ r))); [ring |].
    repeat apply add_ge0; repeat apply le_mul; repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption.
  - rewrite Pos2Nat.inj_xO. set (r := raised_by (down s) x p) in *. set (z := raised_F y (Pos.to_nat p)) in *. assert (Z0 : 0 <= z) by now apply raised_F_ge0.
    split; [apply down_ge0; nra |]. replace (2 * Pos.to_nat p)%nat with (Pos.to_nat p + Pos.to_nat p)%nat by lia. rewrite raised_F_add. fold z. eapply le_trans; [apply D |]. rewrite ofQ_mul.
    assert (R0 : 0 <= (ofQ r : F)) by now apply ofQ_ge0.
    apply le_by with ((z - ofQ r) * z + ofQ r * (z - ofQ r)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); assumption.
  - split; [now apply down_ge0 |]. simpl. eapply le_trans; [apply D |]. apply le_by with (y - ofQ x); [ring | now apply sub_ge0]. Qed.

Lemma finite_law m : mechanism_ok m = true -> finite (law_of E m) = ofQ (1 - sure_of m).
Proof.
  intro H. apply mechanism_range in H. assert (If : forall p q : F, q <> 0 \/ p = 0 -> (if eq_dec q 0 then 0 else p) = p) by (intros p q [N | ->]; destruct (eq_dec q 0); [contradiction | reflexivity | reflexivity | reflexivity]).
  unfold law_of, finite. destruct m as [t l | e d]; simpl in *.
  - assert (L : (ofQ l : F) <> 0) by (apply lt_neq, ofQ_gt0; lra). assert (T : (ofQ t : F) <> 0) by (apply lt_neq, ofQ_gt0; lra).
    rewrite !If; [rewrite !ofQ_sub, !ofQ_1, ofQ_0; ring | now left | | now left]. destruct (eq_dec (ofQ (1 - t - l) : F) 0); [now right | now left].
  - pose proof (@share_pos F E E_ok e d (proj2 (proj2 H))) as X. pose proof (@exp_gt0 F E E_ok (- e)%Q) as Y. assert (P : 1 + E (- e)%Q <> 0) by (apply lt_neq, add_gt0; [apply one_gt0 | now apply lt_le]).
    set (x := ofQ (1 - d) / (1 + E (- e)%Q)) in *. set (y := E (- e)%Q) in *. assert (Nx : x <> 0) by now apply lt_neq. assert (Nxy : x * y <> 0) by (apply lt_neq; now apply mul_gt0).
    assert (Px : x * (1 + y) = ofQ (1 - d)) by (unfold x; field; assumption).
    destruct (eq_dec x 0); [contradiction |]. destruct (eq_dec (x * y) 0); [contradiction |]. destruct (eq_dec (0 : F) 0) as [_ | N]; [| now contradiction N].
    rewrite <- Px. destruct (eq_dec (ofQ d : F) 0); ring. Qed.

Lemma mass_good_finite (mu : law F) (alpha : F) : good mu -> 0 <= alpha -> mass mu - finite mu <= gain alpha mu.
Proof.
  intros G A. unfold mass, finite, gain. apply le_by with (sum mu (fun e => pos (fst e - alpha * snd e) + ((if eq_dec (snd e) 0 then 0 else fst e) + (- (1)) * fst e))).
  - rewrite !sum_plus, sum_scale. ring.
  - apply sum_ge0. intros [p q] I. simpl. destruct (eq_dec q 0) as [-> | N].
    + apply le_by with (pos (p - alpha * 0) - (p - alpha * 0)); [ring | apply sub_ge0, pos_ge].
    + apply le_by with (pos (p - alpha * q)); [ring | apply pos_ge0]. Qed.

Definition capped (mu : law F) (c : Q) := forall p q, In (p, q) mu -> q = 0 \/ p <= E c * q.

Lemma capped_gain (mu : law F) c e : good mu -> capped mu c -> (c <= e)%Q -> gain (E e) mu <= mass mu - finite mu.
Proof.
  intros G C H. unfold mass, finite, gain. apply le_by with (sum mu (fun e0 => fst e0 + ((- (1)) * (if eq_dec (snd e0) 0 then 0 else fst e0) + (- (1)) * pos (fst e0 - E e * snd e0)))).
  - rewrite !sum_plus, !sum_scale. ring.
  - apply sum_ge0. intros [p q] I. simpl. destruct (G p q I) as [P Q0]. destruct (eq_dec q 0) as [-> | N].
    + rewrite pos_of_ge0 by (apply le_by with p; [ring | assumption]). apply le_by with (0 : F); [ring | apply le_refl].
    + rewrite pos_of_le0; [apply le_by with (0 : F); [ring | apply le_refl] |]. destruct (C p q I) as [Z | L]; [contradiction |].
      apply le_by with ((E c * q - p) + (E e - E c) * q); [ring |]. apply add_ge0; [now apply sub_ge0 | apply le_mul; [apply sub_ge0; now apply exp_mono | assumption]]. Qed.

Lemma in_times p q (l m : law F) : In (p, q) (times l m) -> exists a b c d, In (a, b) l /\ In (c, d) m /\ p = a * c /\ q = b * d.
Proof.
  intro I. unfold times in I. apply in_flat_map in I. destruct I as ([a b] & I1 & I2). apply in_map_iff in I2. destruct I2 as ([c d] & Ee & I2). injection Ee as <- <-.
  exists a, b, c, d. auto. Qed.

Lemma capped_times l m c d : good l -> good m -> capped l c -> capped m d -> capped (times l m) (c + d).
Proof.
  intros G H C D p q I. apply in_times in I. destruct I as (a & b & a' & b' & I1 & I2 & -> & ->). destruct (G a b I1) as [A B], (H a' b' I2) as [A' B'].
  destruct (C a b I1) as [-> | L]; [left; ring |]. destruct (D a' b' I2) as [-> | L']; [left; ring |]. right. rewrite (exp_add E_ok).
  assert (0 <= E c * b) by (apply le_mul; [now apply exp_ge0 | assumption]).
  apply le_by with ((E c * b - a) * a' + E c * b * (E d * b' - a')); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); assumption. Qed.

Lemma capped_eq l c d : (c == d)%Q -> capped l c -> capped l d.
Proof. intros Eq C p q I. rewrite <- (exp_eq E_ok Eq). now apply C. Qed.

Lemma capped_nothing : capped (nothing F) 0.
Proof. intros p q [I | []]. injection I as <- <-. right. rewrite (exp_0 E_ok). apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma capped_power l c n : good l -> capped l c -> capped (power l n) (inject_Z (Z.of_nat n) * c).
Proof.
  intros G C. induction n as [| n IH]; simpl power.
  - apply capped_eq with 0%Q; [change (inject_Z (Z.of_nat 0)) with 0%Q; ring | apply capped_nothing].
  - apply capped_eq with (c + inject_Z (Z.of_nat n) * c)%Q; [rewrite Nat2Z.inj_succ; unfold Z.succ; rewrite inject_Z_plus; change (inject_Z 1) with 1%Q; ring |]. apply capped_times; auto using good_power. Qed.

(** An output with a loss of at least so much. *)
Definition reaches (mu : law F) (r : Q) := exists p q, In (p, q) mu /\ 0 < p /\ E r * q <= p.

Lemma times_in (l m : law F) a b c d : In (a, b) l -> In (c, d) m -> In (a * c, b * d) (times l m).
Proof. intros I J. unfold times. apply in_flat_map. exists (a, b). split; [assumption |]. apply in_map_iff. now exists (c, d). Qed.

Lemma reaches_times l m r s : good l -> good m -> reaches l r -> reaches m s -> reaches (times l m) (r + s).
Proof.
  intros G H (p & q & I & P & L) (p' & q' & I' & P' & L'). destruct (G p q I) as [P0 Q0], (H p' q' I') as [P0' Q0'].
  exists (p * p'), (q * q'). split; [now apply times_in |]. split; [now apply mul_gt0 |]. rewrite (exp_add E_ok). assert (0 <= E s * q') by (apply le_mul; [now apply exp_ge0 | assumption]).
  apply le_by with ((p - E r * q) * (E s * q') + p * (p' - E s * q')); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); assumption. Qed.

Lemma reaches_eq l c d : (c == d)%Q -> reaches l c -> reaches l d.
Proof. intros Eq (p & q & R). exists p, q. now rewrite <- (exp_eq E_ok Eq). Qed.

Lemma reaches_nothing : reaches (nothing F) 0.
Proof. exists 1, 1. split; [now left |]. split; [apply one_gt0 |]. rewrite (exp_0 E_ok). apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma reaches_power l c n : good l -> reaches l c -> reaches (power l n) (inject_Z (Z.of_nat n) * c).
Proof.
  intros G C. induction n as [| n IH]; simpl power.
  - apply reaches_eq with 0%Q; [change (inject_Z (Z.of_nat 0)) with 0%Q; ring | apply reaches_nothing].
  - apply reaches_eq with (c + inject_Z (Z.of_nat n) * c)%Q; [rewrite Nat2Z.inj_succ; unfold Z.succ; rewrite inject_Z_plus; change (inject_Z 1) with 1%Q; ring |]. apply reaches_times; auto using good_power. Qed.

Lemma reaches_gain (mu : law F) r e : reaches mu r -> good mu -> (e < r)%Q -> 0 < gain (E e) mu.
Proof.
  intros (p & q & I & P & L) G H. destruct (G p q I) as [P0 Q0].
  assert (Pos : 0 < p - E e * q).
  { destruct (eq_dec q 0) as [-> | N]; [apply lt_by with p; [ring | assumption] |]. assert (Qp : 0 < q) by (intro K; apply N; now apply le_antisym).
    assert (St : 0 < E r - E e).
    { replace (E r - E e) with (E e * (E (r - e)%Q - 1)).
      - apply mul_gt0; [now apply exp_gt0 |]. apply lt_le_trans with (ofQ (r - e)); [apply ofQ_gt0; lra |]. apply le_by with (E (r - e)%Q - (1 + ofQ (r - e))); [ring | apply sub_ge0; apply (exp_above E_ok)].
      - replace (E r) with (E e * E (r - e)%Q) by (rewrite <- (exp_add E_ok); apply (exp_eq E_ok); ring). ring. }
    apply lt_le_trans with ((E r - E e) * q); [now apply mul_gt0 |]. apply le_by with (p - E r * q); [ring | now apply sub_ge0]. }
  apply lt_le_trans with (pos (p - E e * q)); [rewrite pos_of_ge0; [assumption | now apply lt_le] |]. unfold gain. clear - I.
  induction mu as [| x mu IH]; [easy |]. simpl. destruct I as [-> | I].
  - simpl. apply le_by with (sum mu (fun e0 => pos (fst e0 - E e * snd e0))); [ring | apply sum_ge0; intros; apply pos_ge0].
  - apply le_trans with (sum mu (fun e0 => pos (fst e0 - E e * snd e0))); [now apply IH |]. apply le_by with (pos (fst x - E e * snd x)); [ring | apply pos_ge0]. Qed.

(** *** Computations *)
Section Factors.
Variable h : guesses.
Variable fs : factors.
Hypothesis fs_ok : forallb (fun mr : mechanism * N => mechanism_ok (fst mr)) fs = true.

Definition laws : list (law F) := map (law_of E) (map fst fs).

Lemma ms_ok : forallb mechanism_ok (map fst fs) = true.
Proof. rewrite forallb_forall in *. intros m I. apply in_map_iff in I. destruct I as (mr & <- & I). now apply fs_ok. Qed.

Lemma laws_good : all_good laws.
Proof. intros l I. unfold laws in I. apply in_map_iff in I. destruct I as (m & <- & I). apply (law_good E_ok). pose proof ms_ok as M. rewrite forallb_forall in M. now apply M. Qed.

Lemma laws_whole l : In l laws -> mass l = 1.
Proof. intro I. unfold laws in I. apply in_map_iff in I. destruct I as (m & <- & I). apply (law_whole E_ok). pose proof ms_ok as M. rewrite forallb_forall in M. now apply M. Qed.

Lemma jointly_laws : jointly fs = runs_of laws (map snd fs).
Proof. unfold jointly, laws. now rewrite map_map. Qed.

Lemma jointly_good : good (jointly fs).
Proof. rewrite jointly_laws. apply runs_good, laws_good. Qed.

Lemma jointly_whole : mass (jointly fs) = 1.
Proof. rewrite jointly_laws. apply runs_whole, laws_whole. Qed.

Lemma units_range u : units_ok u = true -> (0 < unit u)%Z /\ (0 < step u)%Q.
Proof. intro H. apply andb_prop in H as [H1 H2]. apply Z.ltb_lt in H1. apply negb_true_iff, qle_false in H2. auto. Qed.

Lemma performed_ok u labelled made i k : units_ok u = true -> Forall (known_ok E laws u) made -> performed h u labelled (map fst fs) made i = Some k -> known_ok E laws u k.
Proof.
  intros U M H. destruct (units_range U) as [U1 U2]. rewrite Forall_forall in M. destruct i as [factor depth lo hi | one lo hi | one other lo hi]; simpl in H.
  - unfold laws. apply (cells_ok E_ok U1 U2 ms_ok H).
  - destruct (nth_error made one) as [k1 |] eqn:N1; [| discriminate]. destruct (coarsened u k1) as [k2 |] eqn:C; [| discriminate].
    apply (window_ok E_ok laws_good laws_whole U1 U2) with (2 := H). apply (coarsened_ok E_ok) with (2 := C). apply M. eapply nth_error_In; eassumption.
  - destruct (nth_error made one) as [k1 |] eqn:N1; [| discriminate]. destruct (nth_error made other) as [k2 |] eqn:N2; [| discriminate]. destruct (multiplied u k1 k2) as [k3 |] eqn:C; [| discriminate].
    apply (window_ok E_ok laws_good laws_whole U1 U2) with (2 := H). apply (multiplied_ok E_ok laws_good laws_whole U1) with (3 := C); apply M; eapply nth_error_In; eassumption. Qed.

Lemma run_ok u labelled l : units_ok u = true -> forall made made', Forall (known_ok E laws u) made -> run h u labelled (map fst fs) made l = Some made' -> Forall (known_ok E laws u) made'.
Proof.
  intro U. induction l as [| i l IH]; intros made made' M H; simpl in H; [now injection H as <- |].
  destruct (performed h u labelled (map fst fs) made i) as [k |] eqn:P; [| discriminate]. apply (IH _ _) with (2 := H). apply Forall_app. split; [assumption |]. constructor; [| constructor]. eapply performed_ok; eassumption. Qed.

Lemma same_copies_eq a : forall b, same_copies a b = true -> a = b.
Proof. induction a as [| x a IH]; intros [| y b] H; simpl in H; try easy. apply andb_prop in H as [H1 H2]. apply N.eqb_eq in H1. now rewrite H1, (IH b H2). Qed.

Definition result_ok (uk : units * known) := (0 < unit (fst uk))%Z /\ (0 < step (fst uk))%Q /\ known_ok E laws (fst uk) (snd uk) /\ copies (snd uk) = map snd fs.

Lemma results_ok l ks : results h fs l = Some ks -> Forall result_ok ks.
Proof.
  revert ks. induction l as [| t l IH]; intros ks H; simpl in H; [injection H as <-; constructor |]. destruct (result h fs t) as [uk |] eqn:R; [| discriminate].
  destruct (results h fs l) as [ks' |] eqn:Rs; [| discriminate]. injection H as <-. constructor; [| now apply IH]. unfold result in R.
  destruct (units_ok (units_of t)) eqn:U; [| discriminate]. destruct (run h (units_of t) (labels t) (map fst fs) [] (instructions t)) as [made |] eqn:Ru; [| discriminate].
  pose proof (run_ok U (Forall_nil _) Ru) as M. rewrite rev_append_rev, app_nil_r in R. destruct (rev made) as [| k rest] eqn:Rv; [discriminate |].
  destruct (same_copies (copies k) (map snd fs)) eqn:C; [| discriminate]. injection R as <-. destruct (units_range U) as [U1 U2]. split; [assumption |]. split; [assumption |]. simpl. split; [| now apply same_copies_eq].
  rewrite Forall_forall in M. apply M. rewrite in_rev, Rv. now left. Qed.

Lemma tape_upper_ok e b uk : result_ok uk -> tape_upper e b uk = true -> gain (E e) (jointly fs) <= ofQ b.
Proof.
  destruct uk as [u k]. intros (U1 & U2 & (B & _) & C) H. simpl in U1, U2, B, C. unfold tape_upper in H. pose proof (grid_pos U2 k) as G.
  set (g := grid u k) in *. set (first := Z.max (floor_of (e / g) + 1) (low k)) in *. set (n := numbers u) in *.
  assert (Un : 0 < z_ (unit u)) by now apply unit_gt0. apply cut_by with (z_ (unit u)); [assumption |].
  rewrite jointly_laws, <- C. rewrite <- (firstn_skipn (Z.to_nat (first - low k)) (above k)) in B.
  pose proof (floor_le (e / g)) as F1. pose proof (floor_next (e / g)) as F2.
  assert (G1 : (g * inject_Z (floor_of (e / g)) <= e)%Q) by (apply (Qmult_le_l _ _ g G) in F1; setoid_replace (g * (e / g))%Q with e in F1 by (field; lra); lra).
  assert (G2 : (e <= g * inject_Z (floor_of (e / g) + 1))%Q) by (apply (Qmult_le_l _ _ g G) in F2; setoid_replace (g * (e / g))%Q with e in F2 by (field; lra); lra).
  set (front := firstn (Z.to_nat (first - low k)) (above k)) in *. set (rest := skipn (Z.to_nat (first - low k)) (above k)) in *.
  assert (Lf : (length front <= Z.to_nat (first - low k))%nat) by (unfold front; rewrite firstn_length; lia).
  assert (Front : (front = [] \/ g * inject_Z (low k + Z.of_nat (length front) - 1) <= e)%Q).
  { destruct front as [| x f] eqn:Fr; [now left | right]. assert (first = floor_of (e / g) + 1)%Z by (unfold first in *; simpl length in Lf; lia).
    assert (inject_Z (low k + Z.of_nat (length (x :: f)) - 1) <= inject_Z (floor_of (e / g)))%Q by (rewrite <- Zle_Qle; lia). nra. }
  assert (W : weighty (p_weight E u k)) by (intro z; now apply exp_ge0).
  destruct rest as [| x r] eqn:Re.
  - apply Qle_bool_iff in H. eapply le_trans; [apply (bounded_delta E_ok (Qlt_le_weak _ _ G) W B Front (or_introl eq_refl)) |]. simpl.
    apply le_by with (z_ (unit u) * (ofQ b - ofQ (excess k))); [ring |]. apply le_mul; [now apply lt_le | apply sub_ge0; now apply ofQ_le].
  - rewrite <- Re in *. assert (Ne : rest <> []) by (rewrite Re; easy). apply andb_prop in H as [H1 H2]. apply Qle_bool_iff in H1, H2.
    assert (Lf' : (low k + Z.of_nat (length front) = first)%Z).
    { unfold front. rewrite firstn_length, Nat.min_l; [unfold first; lia |]. destruct (le_lt_dec (Z.to_nat (first - low k)) (length (above k))) as [K | K]; [assumption | exfalso].
      apply Ne. unfold rest. apply skipn_all2. lia. }
    assert (Ef : (e <= g * inject_Z first)%Q).
    { assert (inject_Z (floor_of (e / g) + 1) <= inject_Z first)%Q by (rewrite <- Zle_Qle; unfold first; lia). nra. }
    rewrite <- Lf' in Ef. pose proof (bounded_delta E_ok (Qlt_le_weak _ _ G) W B Front (or_intror Ef)) as D. rewrite Lf' in D. eapply le_trans; [exact D |]. clear D.
    assert (Nr : no_less rest) by (intros y I; apply B; apply in_app_iff; now right).
    assert (Two : value (fun z => p_weight E u k z * (1 - E (e - g * inject_Z z)%Q)) first rest = value (p_weight E u k) first rest - E e * value (weight E (kappa u k) (rate u k + g)) first rest).
    { generalize first. clear - E_ok. induction rest as [| y l IH]; intro f; simpl; [ring |]. rewrite IH.
      assert (P : p_weight E u k f * E (e - g * inject_Z f)%Q = E e * weight E (kappa u k) (rate u k + g) f).
      { unfold p_weight, weight. rewrite <- !(exp_add E_ok). apply (exp_eq E_ok). ring. }
      replace (p_weight E u k f * (1 - E (e - g * inject_Z f)%Q)) with (p_weight E u k f - p_weight E u k f * E (e - g * inject_Z f)%Q) by ring. rewrite P. ring. }
    rewrite Two. set (s := kept n) in *.
    pose proof (sum_up_ok E_ok s (f := exp_high n (- rate u k)) (kappa u k) (exp_high_ok E_ok n (- rate u k)) Nr first) as Su. fold (p_weight E u k) in Su.
    destruct (exp_low_ok E_ok n (- (rate u k + g))) as [X0 X1]. destruct (sum_down_ok E_ok s (kappa u k) X1 X0 Nr first) as [Sd0 Sd].
    set (whole := sum_up _ _ _) in *. set (part := sum_down _ _ _) in *. set (w := p_weight E u k first) in *.
    assert (Wq : E e * weight E (kappa u k) (rate u k + g) first = w * E (e - g * inject_Z first)%Q).
    { unfold w, p_weight, weight. rewrite <- !(exp_add E_ok). apply (exp_eq E_ok). ring. }
    destruct (exp_low_ok E_ok n (e - g * inject_Z first)) as [Sh0 Sh]. set (share := exp_low n (e - g * inject_Z first)) in *.
    assert (W0 : 0 <= w) by apply W. pose proof (exp_high_ok E_ok n (kappa u k - rate u k * inject_Z first)) as Wh. fold (high_weight u k first) in Wh. change (E (kappa u k - rate u k * inject_Z first)%Q) with w in Wh.
    apply le_trans with (z_ (unit u) * ofQ (per u (high_weight u k first * (whole - share * part)) + excess k)).
    + rewrite (ofQ_add _ (per u _)). replace (z_ (unit u) * (ofQ (per u (high_weight u k first * (whole - share * part))) + ofQ (excess k))) with (z_ (unit u) * ofQ (per u (high_weight u k first * (whole - share * part))) + z_ (unit u) * ofQ (excess k)) by ring.
      apply le_add2; [| apply le_refl]. rewrite (per_unit F U1). rewrite ofQ_mul. apply le_trans with (w * ofQ (whole - share * part)).
      * rewrite ofQ_sub, ofQ_mul. set (v1 := value (p_weight E u k) first rest) in *. set (v2 := value (weight E (kappa u k) (rate u k + g)) first rest) in *.
        assert (Pt : 0 <= (ofQ part : F)) by now apply ofQ_ge0. assert (Ee : 0 <= E e) by now apply exp_ge0. set (es := E (e - g * inject_Z first)%Q) in *.
        apply le_by with ((w * ofQ whole - v1) + E e * (v2 - weight E (kappa u k) (rate u k + g) first * ofQ part) + (E e * weight E (kappa u k) (rate u k + g) first - w * es) * ofQ part + w * ((es - ofQ share) * ofQ part)); [ring |].
        rewrite Wq. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply le_by with (0 : F); [ring | apply le_refl].
      * apply le_by with ((ofQ (high_weight u k first) - w) * ofQ (whole - share * part)); [ring |]. apply le_mul; [now apply sub_ge0 | now apply ofQ_ge0].
    + apply le_scale; [now apply lt_le | now apply ofQ_le]. Qed.

Lemma value_from w i : forall l lo, value (fun z => w z * from_on F (lo + Z.of_nat i) z) lo l = value w (lo + Z.of_nat i) (skipn i l).
Proof.
  induction i as [| i IH]; intros l lo.
  - simpl skipn. replace (lo + Z.of_nat 0)%Z with lo by lia.
    assert (Gen : forall l lo', (lo <= lo')%Z -> value (fun z => w z * from_on F lo z) lo' l = value w lo' l).
    { induction l0 as [| x l0 IHl]; intros lo' H; simpl; [reflexivity |]. rewrite IHl by lia. unfold from_on. replace (Z.leb lo lo') with true by (symmetry; apply Z.leb_le; lia). ring. }
    apply Gen. lia.
  - destruct l as [| x l]; [reflexivity |]. simpl skipn. cbn [value]. replace (lo + Z.of_nat (S i))%Z with (lo + 1 + Z.of_nat i)%Z by lia. rewrite IH.
    unfold from_on. replace (Z.leb (lo + 1 + Z.of_nat i) lo) with false by (symmetry; apply Z.leb_gt; lia). ring. Qed.

Lemma above0_spec x : (0 <= above0 x)%Q /\ ((x <= above0 x)%Q /\ (above0 x = x \/ above0 x = 0%Q)).
Proof. unfold above0. destruct (Qle_bool 0 x) eqn:H; [apply Qle_bool_iff in H; repeat split; auto; lra | apply qle_false in H; repeat split; auto; lra]. Qed.

Lemma tape_lower_ok e t uk : result_ok uk -> ofQ (tape_lower e t uk) <= gain (E e) (jointly fs).
Proof.
  destruct uk as [u k]. intros (U1 & U2 & (_ & Sh & Np & Nq & _) & C). simpl in U1, U2, Sh, Np, Nq, C. unfold tape_lower.
  set (g := grid u k). set (n := numbers u). set (i := Z.to_nat (t - low k)). set (spot := (low k + Z.of_nat i)%Z).
  assert (Un : 0 < z_ (unit u)) by now apply unit_gt0. apply cut_by with (z_ (unit u)); [assumption |].
  rewrite jointly_laws, <- C. pose proof (exp_ge0 E_ok e) as Ee.
  assert (None_ : z_ (unit u) * ofQ (sure k) <= z_ (unit u) * gain (E e) (runs_of laws (copies k))).
  { pose proof (shown_delta U1 (low k + Z.of_nat (length (p_labels k) + length (q_labels k)))%Z Sh Ee) as D. unfold from_on in D.
    assert (Z : forall (w : weights F) l lo b, (lo + Z.of_nat (length l) <= b)%Z -> value (fun z => w z * (if Z.leb b z then 1 else 0)) lo l = 0).
    { intros w l. induction l as [| x l IH]; intros lo b H; simpl; [reflexivity |]. simpl length in H. rewrite IH by lia. replace (Z.leb b lo) with false by (symmetry; apply Z.leb_gt; lia). ring. }
    rewrite !Z in D by lia. eapply le_trans; [| exact D]. apply le_by with (0 : F); [ring | apply le_refl]. }
  pose proof (shown_delta U1 spot Sh Ee) as D. unfold spot in D. rewrite !value_from in D. fold spot in D.
  destruct (exp_low_ok E_ok n (- rate u k)) as [X0 X1]. destruct (sum_down_ok E_ok (kept n) (kappa u k) X1 X0 (no_less_skipn (n := i) Np) spot) as [P0 P1].
  pose proof (sum_up_ok E_ok (kept n) (f := exp_high n (- (rate u k + g))) (kappa u k) (exp_high_ok E_ok n (- (rate u k + g))) (no_less_skipn (n := i) Nq) spot) as Q1.
  set (p := sum_down _ _ _) in *. set (q := sum_up _ _ _) in *. fold (p_weight E u k) in P1. change (weight E (kappa u k) (rate u k + g)) with (q_weight E u k) in Q1.
  set (w := p_weight E u k spot) in *. set (v1 := value (p_weight E u k) spot _) in *. set (v2 := value (q_weight E u k) spot _) in *.
  assert (Wq : E e * q_weight E u k spot = w * E (e - g * inject_Z spot)%Q).
  { unfold w, p_weight, q_weight, weight. rewrite <- !(exp_add E_ok). apply (exp_eq E_ok). unfold g. ring. }
  pose proof (exp_high_ok E_ok n (e - g * inject_Z spot)) as Ah. pose proof (exp_ge0 E_ok (e - g * inject_Z spot)%Q) as A0. set (al := exp_high n (e - g * inject_Z spot)) in *. set (es := E (e - g * inject_Z spot)%Q) in *.
  rewrite (ofQ_add _ (per u _)). replace (z_ (unit u) * (ofQ (per u (low_weight u k spot * above0 (p - al * q))) + ofQ (sure k))) with (z_ (unit u) * ofQ (per u (low_weight u k spot * above0 (p - al * q))) + z_ (unit u) * ofQ (sure k)) by ring.
  rewrite (per_unit F U1). destruct (above0_spec (p - al * q)) as (Y0 & _ & [Y | Y]).
  2: { rewrite Y. eapply le_trans; [| exact None_]. rewrite (@ofQ_eq F (low_weight u k spot * 0) 0) by ring. rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl]. }
  rewrite Y in *. eapply le_trans; [| exact D]. apply le_add2; [| apply le_refl]. rewrite ofQ_mul.
  destruct (exp_low_ok E_ok n (kappa u k - rate u k * inject_Z spot)) as [W0 W1]. fold (low_weight u k spot) in W0, W1. change (E (kappa u k - rate u k * inject_Z spot)%Q) with w in W1.
  assert (w0 : 0 <= w) by now apply exp_ge0.
  assert (Q0 : 0 <= (ofQ q : F)).
  { apply cut_by with (q_weight E u k spot); [now apply exp_gt0 |]. eapply le_trans; [| exact Q1]. apply le_by with v2; [ring |]. unfold v2. apply value_ge0; [now apply no_less_skipn | intro; now apply exp_ge0]. }
  apply le_trans with (w * ofQ (p - al * q)).
  - apply le_by with ((w - ofQ (low_weight u k spot)) * ofQ (p - al * q)); [ring |]. apply le_mul; [now apply sub_ge0 | now apply ofQ_ge0].
  - rewrite ofQ_sub, ofQ_mul. apply le_by with ((v1 - w * ofQ p) + E e * (q_weight E u k spot * ofQ q - v2) + (w * es - E e * q_weight E u k spot) * ofQ q + w * ((ofQ al - es) * ofQ q)); [ring |].
    rewrite Wq. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

(** *** One run *)
Lemma atom_upper_ok n e a l : atom_ok E a l -> gain (E e) l <= ofQ (atom_upper n e a).
Proof.
  intros (G & _ & Ql & [_ P2] & [Q1 _] & L). pose proof (exp_ge0 E_ok e) as Ee. destruct (exp_low_ok E_ok n e) as [X0 X]. unfold atom_upper.
  destruct (above0_spec (p_high a - exp_low n e * q_low a)) as (Y0 & Y1 & _). set (y := above0 _) in *.
  assert (Sum : mass l - E e * sum l snd <= ofQ y).
  { apply le_trans with (ofQ (p_high a - exp_low n e * q_low a)); [| now apply ofQ_le]. rewrite ofQ_sub, ofQ_mul. assert (0 <= (ofQ (q_low a) : F)) by now apply ofQ_ge0.
    apply le_by with ((ofQ (p_high a) - mass l) + E e * (sum l snd - ofQ (q_low a)) + (E e - ofQ (exp_low n e)) * ofQ (q_low a)); [ring |]. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption. }
  assert (All : (forall p q, In (p, q) l -> 0 <= p - E e * q) -> gain (E e) l <= ofQ y).
  { intro Ge. eapply le_trans; [| exact Sum]. unfold gain, mass. rewrite (sum_ext (g := fun x => 1 * fst x + (- E e) * snd x)); [rewrite sum_line; apply le_by with (0 : F); [ring | apply le_refl] |].
    intros [p q] I. simpl. rewrite pos_of_ge0 by now apply Ge. ring. }
  destruct (loss a) as [x |].
  - destruct (Qle_bool x e) eqn:Le.
    + apply Qle_bool_iff in Le. rewrite ofQ_0. unfold gain. rewrite (sum_ext (g := fun _ => (0 : F))); [rewrite sum_0; apply le_refl |]. intros [p q] I. simpl. destruct (G p q I) as [_ Qq].
      apply pos_of_le0. rewrite (L p q I). apply le_by with ((E e - E x) * q); [ring |]. apply le_mul; [apply sub_ge0; now apply exp_mono | assumption].
    + apply qle_false in Le. apply All. intros p q I. destruct (G p q I) as [_ Qq]. rewrite (L p q I). replace (E x * q - E e * q) with ((E x - E e) * q) by ring. apply le_mul; [apply sub_ge0; apply (exp_mono E_ok); lra | assumption].
  - destruct L as (p & q & ->). unfold gain, mass in *. simpl in *. apply le_by with (ofQ y - pos (p - E e * q)); [ring |]. apply sub_ge0. apply pos_least; [now apply ofQ_ge0 |].
    eapply le_trans; [| exact Sum]. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma atom_lower_ok n e a l : atom_ok E a l -> ofQ (atom_lower n e a) <= gain (E e) l.
Proof.
  intros (G & _ & _ & [P1 _] & [_ Q2] & _). pose proof (exp_ge0 E_ok e) as Ee. pose proof (exp_high_ok E_ok n e) as X. unfold atom_lower.
  destruct (above0_spec (p_low a - exp_high n e * q_high a)) as (_ & _ & [-> | ->]); [| rewrite ofQ_0; apply gain_ge0].
  apply le_trans with (mass l - E e * sum l snd).
  - rewrite ofQ_sub, ofQ_mul. assert (0 <= sum l snd) by (apply sum_ge0; intros [p q] I; now apply (G p q)). assert (0 <= (ofQ (exp_high n e) : F)) by now apply le_trans with (E e).
    apply le_by with ((mass l - ofQ (p_low a)) + (ofQ (exp_high n e) - E e) * sum l snd + ofQ (exp_high n e) * (ofQ (q_high a) - sum l snd)); [ring |]. repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); assumption.
  - apply le_trans with (sum l (fun x => 1 * fst x + (- E e) * snd x)); [rewrite sum_line; unfold mass; apply le_by with (0 : F); [ring | apply le_refl] |].
    apply sum_le. intros [p q] I. simpl. eapply le_trans; [| apply pos_ge]. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma total_between f g e l ls : Forall2 (atom_ok E) l ls -> (forall a x, atom_ok E a x -> ofQ (g a) <= gain (E e) x <= ofQ (f a)) ->
  ofQ (total_of g l) <= gain (E e) (concat ls) <= ofQ (total_of f l).
Proof.
  intros A B. induction A as [| a x l ls A A' IH]; simpl; [rewrite ofQ_0; unfold gain; simpl; split; apply le_refl |].
  unfold gain. rewrite sum_app. fold (gain (E e) x) (gain (E e) (concat ls)). rewrite !ofQ_add. destruct (B a x A), IH. split; now apply le_add2. Qed.

Lemma alone_ok n m e : alone fs = Some m ->
  ofQ (total_of (atom_lower n e) (atoms_of (log h) n m) + down (kept n) (sure_of m)) <= gain (E e) (jointly fs) <= ofQ (total_of (atom_upper n e) (atoms_of (log h) n m) + up (kept n) (sure_of m)).
Proof.
  intro H. unfold alone in H. destruct fs as [| [m' [| [r | r |]]] [| x l]] eqn:Fs; try discriminate. injection H as ->.
  assert (Ok : mechanism_ok m = true) by (simpl in fs_ok; now rewrite andb_true_r in fs_ok).
  assert (Gd : all_good [law_of E m]) by (intros l [<- | []]; now apply law_good).
  assert (Eq : gain (E e) (jointly [(m, 1%N)]) = gain (E e) (law_of E m)).
  { symmetry. apply (runs_one Gd (i := 0) (l := law_of E m) eq_refl). now apply exp_ge0. }
  rewrite Eq. destruct (atoms_ok E_ok (log h) n Ok) as (ls & A & Cat). unfold law_of, gain. rewrite sum_app. fold (gain (E e) (inner E m)) (gain (E e) (beyond F m)).
  pose proof (mechanism_range Ok) as R. rewrite beyond_gain by (try (destruct m; simpl; lra); now apply exp_ge0). rewrite <- Cat, !ofQ_add.
  destruct (total_between (f := atom_upper n e) (g := atom_lower n e) (e := e) A) as [T1 T2]; [intros; split; [now apply atom_lower_ok | now apply atom_upper_ok] |].
  split; apply le_add2; try assumption; apply ofQ_le; [apply down_le | apply le_up]. Qed.

End Factors.

(** *** Largest and infinite losses *)
Section All.
Variable h : guesses.
Variable n : precision.

Lemma jointly_cons m r (fs : factors) : jointly ((m, r) :: fs) = times (power (law_of E m) (N.to_nat r)) (jointly fs).
Proof. reflexivity. Qed.

Lemma good_cons m r (fs : factors) : forallb (fun mr : mechanism * N => mechanism_ok (fst mr)) ((m, r) :: fs) = true -> mechanism_ok m = true /\ forallb (fun mr : mechanism * N => mechanism_ok (fst mr)) fs = true.
Proof. simpl. intro H. now apply andb_prop in H. Qed.

Lemma finite_up s (fs : factors) : forallb (fun mr => mechanism_ok (fst mr)) fs = true -> finite (jointly fs) <= ofQ (finite_by (up s) fs) /\ 0 <= finite (jointly fs).
Proof.
  induction fs as [| [m r] fs IH]; intro Ok.
  - change (jointly []) with (nothing F). rewrite finite_nothing. simpl. rewrite ofQ_1. split; [apply le_refl | apply one_ge0].
  - apply good_cons in Ok as [Om Ok]. specialize (IH Ok). rewrite jointly_cons, finite_times, finite_power, (finite_law Om). pose proof (mechanism_range Om) as R.
    assert (D0 : (0 <= 1 - sure_of m)%Q) by (destruct m; simpl in *; lra). assert (D1 : 0 <= (ofQ (1 - sure_of m) : F)) by now apply ofQ_ge0. destruct IH as [IH IH0].
    assert (P0 : 0 <= raised_F (ofQ (1 - sure_of m) : F) (N.to_nat r)) by now apply raised_F_ge0. split; [| now apply le_mul].
    unfold finite_by. cbn [fold_right fst snd]. fold (finite_by (up s) fs). eapply le_trans; [| apply ofQ_le, le_up]. rewrite ofQ_mul.
    assert (P1 : raised_F (ofQ (1 - sure_of m) : F) (N.to_nat r) <= ofQ (power_by (up s) (1 - sure_of m) r)).
    { destruct r as [| p]; simpl; [rewrite ofQ_1; apply le_refl |]. apply raised_up; [assumption | apply le_refl]. }
    set (a := raised_F _ _) in *. set (b := ofQ (power_by _ _ _) : F) in *. set (c := finite _) in *. set (d := ofQ (finite_by _ _) : F) in *.
    apply le_by with ((b - a) * d + a * (d - c)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); [now apply le_trans with c | assumption]. Qed.

Lemma finite_down s (fs : factors) : forallb (fun mr => mechanism_ok (fst mr)) fs = true -> ofQ (finite_by (down s) fs) <= finite (jointly fs) /\ (0 <= finite_by (down s) fs)%Q.
Proof.
  induction fs as [| [m r] fs IH]; intro Ok.
  - change (jointly []) with (nothing F). rewrite finite_nothing. simpl. rewrite ofQ_1. split; [apply le_refl | lra].
  - apply good_cons in Ok as [Om Ok]. specialize (IH Ok). rewrite jointly_cons, finite_times, finite_power, (finite_law Om). pose proof (mechanism_range Om) as R.
    assert (D0 : (0 <= 1 - sure_of m)%Q) by (destruct m; simpl in *; lra). assert (D1 : 0 <= (ofQ (1 - sure_of m) : F)) by now apply ofQ_ge0. destruct IH as [IH IH0].
    assert (P1 : (0 <= power_by (down s) (1 - sure_of m) r)%Q /\ ofQ (power_by (down s) (1 - sure_of m) r) <= raised_F (ofQ (1 - sure_of m) : F) (N.to_nat r)).
    { destruct r as [| p]; simpl; [rewrite ofQ_1; split; [lra | apply le_refl] |]. apply raised_down; [assumption | apply le_refl]. }
    destruct P1 as [P0 P1]. unfold finite_by. cbn [fold_right fst snd]. fold (finite_by (down s) fs). split; [| apply down_ge0; nra].
    eapply le_trans; [apply ofQ_le, down_le |]. rewrite ofQ_mul. assert (B0 : 0 <= (ofQ (power_by (down s) (1 - sure_of m) r) : F)) by now apply ofQ_ge0. assert (D2 : 0 <= (ofQ (finite_by (down s) fs) : F)) by now apply ofQ_ge0.
    set (a := raised_F _ _) in *. set (b := ofQ (power_by _ _ _) : F) in *. set (c := finite _) in *. set (d := ofQ (finite_by _ _) : F) in *.
    apply le_by with ((a - b) * d + a * (c - d)); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); [assumption | now apply le_trans with b]. Qed.

Lemma cap_ok m c : mechanism_ok m = true -> cap_of h n m = Some c -> capped (law_of E m) c.
Proof.
  intros Ok H. pose proof (mechanism_range Ok) as R. unfold law_of. destruct m as [t l | e d]; simpl in H, R.
  - assert (K : (0 <= c)%Q -> ofQ t <= E c * ofQ l -> capped (inner E (Response t l) ++ beyond F (Response t l)) c).
    { intros C L p q I. right. assert (One : 1 <= E c) by (rewrite <- (exp_0 E_ok); now apply (exp_mono E_ok)). assert (G1 : forall x : Q, (0 <= x)%Q -> (ofQ x : F) <= E c * ofQ x).
      { intros x X. apply le_by with ((E c - 1) * ofQ x); [ring |]. apply le_mul; [now apply sub_ge0 | now apply ofQ_ge0]. }
      simpl in I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-; [assumption | apply G1; lra |].
      apply le_trans with (ofQ t); [apply ofQ_le; lra | apply G1; lra]. }
    destruct (Qeq_bool t l) eqn:Eq.
    + injection H as <-. apply Qeq_bool_iff in Eq. apply K; [lra |]. rewrite (exp_0 E_ok), (ofQ_eq F Eq). apply le_by with (0 : F); [ring | apply le_refl].
    + set (c' := log_high h (t / l)) in *. destruct (Qle_bool 0 c' && Qle_bool t (exp_low n c' * l)) eqn:C; [| discriminate]. injection H as <-. apply andb_prop in C as [C1 C2]. apply Qle_bool_iff in C1, C2.
      apply K; [assumption |]. apply (@ofQ_le F) in C2. rewrite ofQ_mul in C2. eapply le_trans; [exact C2 |]. destruct (exp_low_ok E_ok n c') as [_ X]. apply le_by with ((E c' - ofQ (exp_low n c')) * ofQ l); [ring |].
      apply le_mul; [now apply sub_ge0 | apply ofQ_ge0; lra].
  - injection H as <-. pose proof (@share_pos F E E_ok e d (proj2 (proj2 R))) as X. simpl. set (x := ofQ (1 - d) / (1 + E (- e)%Q)) in *. pose proof (lt_le X) as X0.
    assert (M : E (- e)%Q <= E e) by (apply (exp_mono E_ok); lra). pose proof (exp_inverse E_ok e) as Inv. pose proof (exp_ge0 E_ok e) as E0.
    assert (D : 0 <= (ofQ d : F)) by (apply ofQ_ge0; lra).
    intros p q I. simpl in I. repeat destruct I as [I | I]; try contradiction; injection I as <- <-.
    + right. apply le_by with (x * (E e - E (- e)%Q)); [ring |]. apply le_mul; [assumption | now apply sub_ge0].
    + right. replace (E e * (x * E (- e)%Q)) with (x * (E e * E (- e)%Q)) by ring. rewrite Inv. apply le_by with (0 : F); [ring | apply le_refl].
    + now left.
    + right. apply le_by with (E e * ofQ d); [ring | now apply le_mul]. Qed.

Lemma reach_ok m r : mechanism_ok m = true -> reach_of h n m = Some r -> reaches (law_of E m) r.
Proof.
  intros Ok H. pose proof (mechanism_range Ok) as R. unfold law_of. destruct m as [t l | e d]; simpl in H, R.
  - exists (ofQ t), (ofQ l). split; [now left |]. split; [apply ofQ_gt0; lra |]. destruct (Qeq_bool t l) eqn:Eq.
    + injection H as <-. apply Qeq_bool_iff in Eq. rewrite (exp_0 E_ok), (ofQ_eq F Eq). apply le_by with (0 : F); [ring | apply le_refl].
    + set (r' := log_low h (t / l)) in *. destruct (Qle_bool (exp_high n r' * l) t) eqn:C; [| discriminate]. injection H as <-. apply Qle_bool_iff in C. apply (@ofQ_le F) in C. rewrite ofQ_mul in C. eapply le_trans; [| exact C].
      pose proof (exp_high_ok E_ok n r') as X. apply le_by with ((ofQ (exp_high n r') - E r') * ofQ l); [ring |]. apply le_mul; [now apply sub_ge0 | apply ofQ_ge0; lra].
  - injection H as <-. pose proof (@share_pos F E E_ok e d (proj2 (proj2 R))) as X. simpl. set (x := ofQ (1 - d) / (1 + E (- e)%Q)) in *.
    exists x, (x * E (- e)%Q). split; [right; now left |]. split; [assumption |]. replace (E e * (x * E (- e)%Q)) with (x * (E e * E (- e)%Q)) by ring. rewrite (exp_inverse E_ok). apply le_by with (0 : F); [ring | apply le_refl]. Qed.

Lemma count r c : (inject_Z (Z.of_nat (N.to_nat r)) * c == inject_Z (Z.of_N r) * c)%Q.
Proof. now rewrite N_nat_Z. Qed.

Lemma cap_all (fs : factors) : forall c, forallb (fun mr => mechanism_ok (fst mr)) fs = true -> sum_of (cap_of h n) fs = Some c -> capped (jointly fs) c.
Proof.
  induction fs as [| [m r] fs IH]; intros c Ok H; simpl in H; [injection H as <-; apply capped_nothing |]. pose proof Ok as Ok0. apply good_cons in Ok as [Om Ok].
  destruct (cap_of h n m) as [x |] eqn:X; [| discriminate]. destruct (sum_of (cap_of h n) fs) as [y |] eqn:Y; [| discriminate]. injection H as <-.
  rewrite jointly_cons. apply capped_times; [apply good_power; now apply law_good | now apply jointly_good | | now apply IH].
  apply capped_eq with (inject_Z (Z.of_nat (N.to_nat r)) * x)%Q; [apply count |]. apply capped_power; [now apply law_good | now apply cap_ok]. Qed.

Lemma reach_all (fs : factors) : forall c, forallb (fun mr => mechanism_ok (fst mr)) fs = true -> sum_of (reach_of h n) fs = Some c -> reaches (jointly fs) c.
Proof.
  induction fs as [| [m r] fs IH]; intros c Ok H; simpl in H; [injection H as <-; apply reaches_nothing |]. pose proof Ok as Ok0. apply good_cons in Ok as [Om Ok].
  destruct (reach_of h n m) as [x |] eqn:X; [| discriminate]. destruct (sum_of (reach_of h n) fs) as [y |] eqn:Y; [| discriminate]. injection H as <-.
  rewrite jointly_cons. apply reaches_times; [apply good_power; now apply law_good | now apply jointly_good | | now apply IH].
  apply reaches_eq with (inject_Z (Z.of_nat (N.to_nat r)) * x)%Q; [apply count |]. apply reaches_power; [now apply law_good | now apply reach_ok]. Qed.
End All.

(** ** The theorem: what is accepted is true *)
Section Check.
Variable h : guesses.
Variable fs : factors.
Hypothesis fs_ok : forallb (fun mr : mechanism * N => mechanism_ok (fst mr)) fs = true.
Variable knowns : list (units * known).
Hypothesis knowns_true : Forall (result_ok fs) knowns.

Lemma gain_at_most_1 e : gain (E e) (jointly fs) <= 1.
Proof.
  rewrite <- (jointly_whole fs_ok). apply sum_le. intros [p q] I. destruct (jointly_good fs_ok I) as [P Q0]. apply pos_least; [assumption |]. simpl. apply le_by with (E e * q); [ring | apply le_mul; [now apply exp_ge0 | assumption]]. Qed.

Lemma upper_ok_sound n e b : upper_ok h n fs knowns e b = true -> gain (E e) (jointly fs) <= ofQ b.
Proof.
  intro H. unfold upper_ok in H. apply orb_prop in H as [H | H]; [apply orb_prop in H as [H | H]; [apply orb_prop in H as [H | H] |] |].
  - apply Qle_bool_iff in H. apply le_trans with 1; [apply gain_at_most_1 | rewrite <- (ofQ_1 F); now apply ofQ_le].
  - apply existsb_exists in H as (uk & I & T). rewrite Forall_forall in knowns_true. apply (tape_upper_ok (knowns_true _ I) T).
  - destruct (alone fs) as [m |] eqn:A; [| discriminate]. apply Qle_bool_iff in H. eapply le_trans; [apply (proj2 (alone_ok h fs_ok n e A)) | now apply ofQ_le].
  - destruct (sum_of (cap_of h n) fs) as [c |] eqn:C; [| discriminate]. apply andb_prop in H as [H1 H2]. apply Qle_bool_iff in H1, H2.
    eapply le_trans; [apply (capped_gain (jointly_good fs_ok) (cap_all fs_ok C) H1) |]. rewrite jointly_whole by assumption. apply le_trans with (ofQ (1 - finite_by (down (kept n)) fs)); [| now apply ofQ_le].
    rewrite ofQ_sub, ofQ_1. destruct (finite_down (kept n) fs_ok) as [D _]. apply le_by with (finite (jointly fs) - ofQ (finite_by (down (kept n)) fs)); [ring | now apply sub_ge0]. Qed.

Lemma lower_ok_sound holds n e : lower_ok holds h n fs knowns e = true -> exists x, holds x = true /\ ofQ x <= gain (E e) (jointly fs).
Proof.
  intro H. unfold lower_ok in H. apply orb_prop in H as [H | H]; [apply orb_prop in H as [H | H] |].
  - apply existsb_exists in H as (uk & I & T). rewrite Forall_forall in knowns_true. eexists. split; [exact T |]. apply tape_lower_ok. now apply knowns_true.
  - destruct (alone fs) as [m |] eqn:A; [| discriminate]. eexists. split; [exact H |]. apply (proj1 (alone_ok h fs_ok n e A)).
  - eexists. split; [exact H |]. eapply le_trans; [| apply (mass_good_finite (jointly_good fs_ok)); now apply exp_ge0]. rewrite jointly_whole by assumption.
    rewrite ofQ_sub, ofQ_1. destruct (finite_up (kept n) fs_ok) as [D _]. apply le_by with (ofQ (finite_by (up (kept n)) fs) - finite (jointly fs)); [ring | now apply sub_ge0]. Qed.

Lemma claim_ok_sound nc : claim_ok h fs knowns nc = true -> claim_true (jointly fs) (snd nc).
Proof.
  destruct nc as [n [e lo upper | d lo upper]]; unfold claim_ok; cbn [fst snd claim_true]; intro H.
  - apply andb_prop in H as [H L]. apply andb_prop in H as [E0 U]. split.
    + apply orb_prop in L as [L | L]; [apply Qle_bool_iff in L; apply le_trans with 0; [rewrite <- (ofQ_0 F); now apply ofQ_le | apply gain_ge0] |].
      destruct (lower_ok_sound L) as (x & X & G). apply Qle_bool_iff in X. apply le_trans with (ofQ x); [now apply ofQ_le | assumption].
    + now apply (upper_ok_sound U).
  - apply andb_prop in H as [H L]. apply andb_prop in H as [H U]. apply andb_prop in H as [U0 D0]. apply Qle_bool_iff in D0. split; [now apply (upper_ok_sound U) |]. intros e E0 El.
    apply orb_prop in L as [L | L]; [apply orb_prop in L as [L | L] |].
    + apply Qle_bool_iff in L. exfalso. lra.
    + destruct (lower_ok_sound L) as (x & X & G). unfold more_than in X. apply negb_true_iff, qle_false in X. apply lt_le_trans with (ofQ x); [now apply ofQ_lt |]. eapply le_trans; [exact G |].
      apply gain_anti; [now apply jointly_good | apply (exp_mono E_ok); lra].
    + apply andb_prop in L as [Dz L]. apply Qle_bool_iff in Dz. destruct (sum_of (reach_of h n) fs) as [r |] eqn:R; [| discriminate]. apply Qle_bool_iff in L.
      apply le_lt_trans with 0; [rewrite <- (ofQ_0 F); now apply ofQ_le |]. apply (reaches_gain (reach_all fs_ok R) (jointly_good fs_ok)). lra. Qed.
End Check.

Theorem check_composition_sound h fs tapes claims : check_composition h fs tapes claims = true ->
  forall c, In c (map snd claims) -> claim_true (jointly fs) c.
Proof.
  intro H. unfold check_composition in H. apply andb_prop in H as [Ok H]. destruct (results h fs tapes) as [knowns |] eqn:R; [| discriminate].
  intros c I. apply in_map_iff in I. destruct I as (nc & <- & I). rewrite forallb_forall in H. apply (claim_ok_sound (h := h) Ok (results_ok Ok R)). now apply H. Qed.

(** ** What the laws stand for *)

(** Mechanisms that are dominated, each as often as it runs, have no larger delta. *)
Lemma power_dominated (l m : law F) n : good l -> good m -> dominated l m -> dominated (power l n) (power m n).
Proof.
  intros G H D. induction n as [| n IH]; simpl; [intros alpha _; apply le_refl |]. apply times_dominated; auto using good_power. Qed.

Theorem jointly_dominated (fs : factors) : forallb (fun mr => mechanism_ok (fst mr)) fs = true -> forall ls, all_good ls ->
  Forall2 (fun l mr => dominated l (law_of E (fst mr))) ls fs -> dominated (runs_of ls (map snd fs)) (jointly fs).
Proof.
  induction fs as [| [m r] fs IH]; intros Ok ls G D; inversion D as [| l ? ls' ? D1 D2]; subst; [intros alpha _; apply le_refl |].
  pose proof (good_cons Ok) as [Om Ok']. assert (G' : all_good ls') by (intros x I; apply G; now right). rewrite jointly_cons. unfold runs_of. simpl.
  assert (Gl : good l) by (apply G; now left). pose proof (law_good E_ok Om) as Gm.
  apply times_dominated; auto using good_power, good_joint; [now apply jointly_good | now apply power_dominated |]. now apply IH. Qed.

(** The other direction is the same: each law is its own mirror image. *)
Definition swapped (l : law F) : law F := map (fun e => (snd e, fst e)) l.

Lemma law_swapped m : equal (swapped (law_of E m)) (law_of E m).
Proof. intro alpha. unfold swapped, law_of, gain. destruct m; simpl; ring. Qed.

Lemma swapped_times (l m : law F) : swapped (times l m) = times (swapped l) (swapped m).
Proof.
  unfold swapped, times. induction l as [| a l IH]; simpl; [reflexivity |]. rewrite map_app, IH. f_equal. now rewrite !map_map. Qed.

Lemma swapped_good (l : law F) : good l -> good (swapped l).
Proof. intros G p q I. apply in_map_iff in I. destruct I as ([a b] & Ee & I). injection Ee as <- <-. destruct (G _ _ I). split; assumption. Qed.

Lemma swapped_power (l : law F) n : swapped (power l n) = power (swapped l) n.
Proof. induction n as [| n IH]; simpl; [reflexivity | now rewrite swapped_times, IH]. Qed.

Lemma power_same (l m : law F) n : good l -> good m -> same_gains l m -> same_gains (power l n) (power m n).
Proof. intros G H S. induction n as [| n IH]; simpl; [intros alpha _; reflexivity |]. apply same_times; auto using good_power. Qed.

Theorem both_directions (fs : factors) : forallb (fun mr => mechanism_ok (fst mr)) fs = true -> same_gains (swapped (jointly fs)) (jointly fs).
Proof.
  induction fs as [| [m r] fs IH]; intro Ok; [intros alpha _; reflexivity |]. pose proof (good_cons Ok) as [Om Ok']. rewrite jointly_cons, swapped_times, swapped_power.
  pose proof (law_good E_ok Om) as Gm. apply same_times; auto using good_power, swapped_good; try (now apply jointly_good); try (apply swapped_good; now apply jointly_good).
  apply power_same; auto using swapped_good. apply equal_same, law_swapped. Qed.

(** What is (epsilon, delta)-private is dominated by the law that stands for it (Kairouz, Oh and Viswanath). *)
Theorem private_dominated e d (l : law F) : (0 <= e)%Q -> (0 <= d)%Q -> (d < 1)%Q -> good l -> mass l = 1 -> sum l snd = 1 ->
  gain (E e) l <= ofQ d -> gain (E e) (swapped l) <= ofQ d -> dominated l (law_of E (Private e d)).
Proof.
  intros E0 D0 D1 G M1 M2 H1 H2 alpha A. pose proof (@share_pos F E E_ok e d D1) as X. pose proof (@exp_gt0 F E E_ok (- e)%Q) as Y. pose proof (exp_inverse E_ok e) as Inv.
  assert (Ref : gain alpha (law_of E (Private e d)) = pos (ofQ (1 - d) / (1 + E (- e)%Q) * E (- e)%Q - alpha * (ofQ (1 - d) / (1 + E (- e)%Q))) + pos (ofQ (1 - d) / (1 + E (- e)%Q) - alpha * (ofQ (1 - d) / (1 + E (- e)%Q) * E (- e)%Q)) + ofQ d).
  { unfold law_of, gain. rewrite sum_app. fold (gain alpha (beyond F (Private e d))). rewrite beyond_gain by assumption. simpl. ring. }
  rewrite Ref. clear Ref. set (y := E (- e)%Q) in *. set (b := E e) in *. set (x := ofQ (1 - d) / (1 + y)) in *. pose proof (lt_le X) as X0. pose proof (lt_le Y) as Y0.
  assert (Px : x * (1 + y) = 1 - ofQ d) by (rewrite <- (ofQ_1 F), <- ofQ_sub; unfold x; rewrite ofQ_1; field; apply lt_neq, add_gt0; [apply one_gt0 | assumption]).
  assert (B0 : 0 <= b) by now apply exp_ge0. assert (Yb : y <= b) by (apply (exp_mono E_ok); lra). assert (D : 0 <= (ofQ d : F)) by now apply ofQ_ge0.
  (* below 1 the other direction tells it *)
  assert (Low : forall c, 0 <= c -> c <= y -> gain c l <= 1 - c + c * ofQ d).
  { intros c C Cy. assert (T : sum l (fun e0 => pos (c * snd e0 - fst e0)) <= c * ofQ d).
    { destruct (eq_dec c 0) as [-> | N].
      - rewrite (sum_ext (g := fun _ => (0 : F))); [rewrite sum_0; apply le_by with (0 : F); [ring | apply le_refl] |]. intros [p q] I. simpl. apply pos_of_le0. apply le_by with p; [ring |]. now apply (G p q).
      - assert (C0 : 0 < c) by (intro K; apply N; now apply le_antisym).
        apply le_trans with (c * gain b (swapped l)); [| now apply le_scale]. unfold gain, swapped. rewrite sum_map, <- sum_scale. apply sum_le. intros [p q] I. simpl. destruct (G p q I) as [P Q0].
        rewrite <- pos_scale by assumption. apply pos_mono. apply le_by with (p * (1 - c * b)); [ring |]. apply le_mul; [assumption |]. apply sub_ge0. rewrite <- Inv.
        apply le_by with ((y - c) * b); [unfold b, y; ring |]. apply le_mul; [now apply sub_ge0 | assumption]. }
    apply le_trans with (sum l (fun e0 => 1 * fst e0 + (- c) * snd e0) + sum l (fun e0 => pos (c * snd e0 - fst e0))).
    - rewrite <- sum_plus. apply sum_le. intros [p q] I. simpl. apply pos_least.
      + destruct (le_total (c * q) p) as [K | K]; [rewrite pos_of_le0 by (apply le_by with (p - c * q); [ring | now apply sub_ge0]); apply le_by with (p - c * q); [ring | now apply sub_ge0] |].
        rewrite pos_of_ge0 by now apply sub_ge0. apply le_by with (0 : F); [ring | apply le_refl].
      + apply le_by with (pos (c * q - p)); [ring | apply pos_ge0].
    - rewrite sum_line. unfold mass in M1. rewrite M1, M2. apply le_by with (c * ofQ d - sum l (fun e0 => pos (c * snd e0 - fst e0))); [ring | now apply sub_ge0]. }
  destruct (le_total b alpha) as [Hb | Hb].
  - apply le_trans with (ofQ d); [eapply le_trans; [apply (gain_anti G Hb) | exact H1] |]. pose proof (pos_ge0 (x * y - alpha * x)). pose proof (pos_ge0 (x - alpha * (x * y))).
    apply le_by with (pos (x * y - alpha * x) + pos (x - alpha * (x * y))); [ring | now apply add_ge0].
  - destruct (le_total alpha y) as [Hy | Hy].
    + eapply le_trans; [now apply Low |]. pose proof (pos_ge (x * y - alpha * x)) as P1. pose proof (pos_ge (x - alpha * (x * y))) as P2.
      set (u := pos (x * y - alpha * x)) in *. set (v := pos (x - alpha * (x * y))) in *. apply le_by with ((u - (x * y - alpha * x)) + (v - (x - alpha * (x * y))) + (1 - alpha) * (x * (1 + y) - (1 - ofQ d))); [ring |].
      rewrite Px. apply add_ge0; [apply add_ge0; now apply sub_ge0 | apply le_by with (0 : F); [ring | apply le_refl]].
    + (* between both ends the curve is below its chord *)
      assert (Chord : (b - y) * gain alpha l <= (b - alpha) * gain y l + (alpha - y) * gain b l).
      { unfold gain. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros [p q] I. simpl. rewrite <- pos_scale by now apply sub_ge0.
        apply pos_least; [apply add_ge0; apply le_mul; try (now apply sub_ge0); apply pos_ge0 |].
        apply le_by with ((b - alpha) * (pos (p - y * q) - (p - y * q)) + (alpha - y) * (pos (p - b * q) - (p - b * q))); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); apply sub_ge0, pos_ge. }
      destruct (eq_dec b y) as [Eq | Ne].
      * (* epsilon is 0 *)
        assert (Al : alpha = y) by (apply le_antisym; [now rewrite <- Eq | assumption]). rewrite Al, <- Eq in *. eapply le_trans; [exact H1 |]. pose proof (pos_ge0 (x * b - b * x)). pose proof (pos_ge0 (x - b * (x * b))).
        apply le_by with (pos (x * b - b * x) + pos (x - b * (x * b))); [ring | now apply add_ge0].
      * assert (Pos : 0 < b - y) by (intro K; apply Ne; apply le_antisym; [apply le_by with (0 - (b - y)); [ring | now apply sub_ge0] | assumption]).
        apply cut_by with (b - y); [assumption |]. eapply le_trans; [exact Chord |]. pose proof (Low y Y0 (le_refl y)) as Ly. pose proof (pos_ge0 (x * y - alpha * x)) as P1. pose proof (pos_ge (x - alpha * (x * y))) as P2.
        set (u := pos (x * y - alpha * x)) in *. set (v := pos (x - alpha * (x * y))) in *.
        apply le_by with ((b - alpha) * ((1 - y + y * ofQ d) - gain y l) + (alpha - y) * (ofQ d - gain b l) + (b - y) * u + (b - y) * (v - (x - alpha * (x * y)))
          + (b - alpha) * (1 - y) * (x * (1 + y) - (1 - ofQ d)) + x * (alpha - y) * (1 - b * y)); [ring |].
        rewrite Px. assert (By : b * y = 1) by exact Inv. rewrite By.
        repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption; try (apply le_by with (0 : F); [ring | apply le_refl]).
        apply sub_ge0. rewrite <- (exp_0 E_ok). apply (exp_mono E_ok). lra. Qed.
End Sound.

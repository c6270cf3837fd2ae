(** * Losses of compositions on a grid (docs/theory/composition.md)

    Laws of mechanisms are finite: masses of outputs on one input and on the other. That a law is dominated is kept by
    products, by rounding up, on windows and on coarser grids; that labels show a gain is kept, too. *)

From Coq Require Import ZArith QArith List Permutation Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Laws.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

(** Masses of each output under P and under Q. *)
Definition law := list (F * F).

Definition pos (x : F) : F := if le_dec 0 x then x else 0.
Fixpoint sum (X : Type) (l : list X) (f : X -> F) : F := match l with [] => 0 | x :: l' => f x + sum l' f end.

(** delta at alpha, in one direction: the hockey-stick divergence. *)
Definition gain (alpha : F) (l : law) : F := sum l (fun e => pos (fst e - alpha * snd e)).
Definition mass (l : law) : F := sum l fst.
Definition good (l : law) := forall p q, In (p, q) l -> 0 <= p /\ 0 <= q.
Definition dominated (l m : law) := forall alpha, 0 <= alpha -> gain alpha l <= gain alpha m.

(** Two mechanisms that run independently. *)
Definition times (l m : law) : law := flat_map (fun a => map (fun b => (fst a * fst b, snd a * snd b)) m) l.

Lemma pos_ge0 x : 0 <= pos x.
Proof. unfold pos; destruct (le_dec 0 x); [assumption | apply le_refl]. Qed.

Lemma pos_ge x : x <= pos x.
Proof. unfold pos; destruct (le_dec 0 x); [apply le_refl | now apply lt_le]. Qed.

Lemma pos_least x y : 0 <= y -> x <= y -> pos x <= y.
Proof. unfold pos; destruct (le_dec 0 x); auto. Qed.

Lemma pos_mono x y : x <= y -> pos x <= pos y.
Proof. intro H. apply pos_least; [apply pos_ge0 |]. apply le_trans with y; [assumption | apply pos_ge]. Qed.

Lemma pos_add x y : pos (x + y) <= pos x + pos y.
Proof. apply pos_least; [apply add_ge0; apply pos_ge0 | apply le_add2; apply pos_ge]. Qed.

Lemma pos_of_ge0 x : 0 <= x -> pos x = x.
Proof. unfold pos; destruct (le_dec 0 x); [reflexivity | contradiction]. Qed.

Lemma pos_of_le0 x : x <= 0 -> pos x = 0.
Proof. intro H. unfold pos; destruct (le_dec 0 x); [now apply le_antisym | reflexivity]. Qed.

Lemma pos_scale c x : 0 <= c -> pos (c * x) = c * pos x.
Proof.
  intro C. destruct (le_total 0 x) as [H | H].
  - rewrite !pos_of_ge0; [reflexivity | assumption | now apply le_mul].
  - rewrite !pos_of_le0; [ring | assumption |]. apply le_by with (c * (0 - x)); [ring |]. apply le_mul; [assumption | now apply sub_ge0]. Qed.

Section Sum.
Variable X : Type.
Implicit Types l m : list X.

Lemma sum_app l m f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l as [| x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_le l f g : (forall x, In x l -> f x <= g x) -> sum l f <= sum l g.
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply le_add2; [apply H; now left | apply IH; intros; apply H; now right]. Qed.

Lemma sum_ext l f g : (forall x, In x l -> f x = g x) -> sum l f = sum l g.
Proof. induction l as [| x l IH]; simpl; intro H; [reflexivity |]. rewrite (H x), IH; auto. Qed.

Lemma sum_ge0 l f : (forall x, In x l -> 0 <= f x) -> 0 <= sum l f.
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply add_ge0; [apply H; now left | apply IH; intros; apply H; now right]. Qed.

Lemma sum_scale l c f : sum l (fun x => c * f x) = c * sum l f.
Proof. induction l as [| x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_plus l f g : sum l (fun x => f x + g x) = sum l f + sum l g.
Proof. induction l as [| x l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_map (Y : Type) (h : X -> Y) l f : sum (map h l) f = sum l (fun x => f (h x)).
Proof. induction l as [| x l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma sum_0 l : sum l (fun _ => 0) = 0.
Proof. induction l as [| x l IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.

End Sum.

Lemma sum_flat_map (X Y : Type) (h : X -> list Y) l f : sum (flat_map h l) f = sum l (fun x => sum (h x) f).
Proof. induction l as [| x l IH]; simpl; [reflexivity | now rewrite sum_app, IH]. Qed.

Lemma sum_swap (X Y : Type) (l : list X) (m : list Y) (f : X -> Y -> F) : sum l (fun x => sum m (f x)) = sum m (fun y => sum l (fun x => f x y)).
Proof. induction l as [| x l IH]; simpl; [symmetry; apply sum_0 | now rewrite IH, sum_plus]. Qed.

Lemma sum_times l m f : sum (times l m) f = sum l (fun a => sum m (fun b => f (fst a * fst b, snd a * snd b))).
Proof. unfold times. rewrite sum_flat_map. apply sum_ext; intros a _. now rewrite sum_map. Qed.

Lemma good_times l m : good l -> good m -> good (times l m).
Proof.
  intros G H p q I. unfold times in I. apply in_flat_map in I. destruct I as ([a b] & Ia & I). apply in_map_iff in I. destruct I as ([c d] & E & I).
  injection E as <- <-. destruct (G _ _ Ia), (H _ _ I). split; now apply le_mul. Qed.

Lemma good_app l m : good l -> good m -> good (l ++ m).
Proof. intros G H p q I. apply in_app_iff in I. destruct I; auto. Qed.

Lemma mass_times l m : mass (times l m) = mass l * mass m.
Proof. unfold mass. rewrite sum_times. simpl. transitivity (sum l (fun a => mass m * fst a)).
  - apply sum_ext; intros a _. rewrite sum_scale. unfold mass. ring.
  - rewrite sum_scale. unfold mass. ring. Qed.

Lemma gain_ge0 alpha l : 0 <= gain alpha l.
Proof. apply sum_ge0. intros; apply pos_ge0. Qed.

Lemma gain_times alpha l m : gain alpha (times l m) = sum l (fun a => sum m (fun b => pos (fst a * fst b - alpha * (snd a * snd b)))).
Proof. unfold gain. rewrite sum_times. reflexivity. Qed.

(** Of one output of a law, what the other law gains. *)
Lemma gain_beside alpha p q m : 0 <= alpha -> 0 <= p -> 0 <= q -> good m ->
  sum m (fun b => pos (p * fst b - alpha * (q * snd b))) = p * gain (if eq_dec p 0 then 0 else alpha * q / p) m.
Proof.
  intros A P Q G. destruct (eq_dec p 0) as [-> | N].
  - transitivity (sum m (fun _ : F * F => (0 : F))); [| rewrite sum_0; ring]. apply sum_ext. intros [c d] I. destruct (G _ _ I) as [_ D]. simpl.
    apply pos_of_le0. apply le_by with (alpha * (q * d)); [ring |]. repeat apply le_mul; assumption.
  - unfold gain. rewrite <- sum_scale. apply sum_ext. intros [c d] I. simpl. rewrite <- pos_scale by assumption. f_equal. field. assumption. Qed.

(** Lemma 1 of the note. *)
Lemma times_dominated_right l m m' : good l -> good m -> good m' -> dominated m m' -> dominated (times l m) (times l m').
Proof.
  intros G Gm Gm' D alpha A. rewrite !gain_times. apply sum_le. intros [p q] I. destruct (G _ _ I) as [P Q]. simpl.
  rewrite !gain_beside by assumption. apply le_scale; [assumption |]. apply D.
  destruct (eq_dec p 0) as [_ | N]; [apply le_refl |].
  assert (P' : 0 < p) by (intro H; apply N; now apply le_antisym).
  replace (alpha * q / p) with (alpha * q * inv p) by (field; assumption). apply le_mul; [now apply le_mul | apply lt_le; now apply inv_gt0]. Qed.

Definition equal (l m : law) := forall alpha, gain alpha l = gain alpha m.

Lemma times_comm l m : equal (times l m) (times m l).
Proof. intro alpha. rewrite !gain_times, sum_swap. apply sum_ext; intros b _. apply sum_ext; intros a _. f_equal; ring. Qed.

Lemma times_assoc l m n : equal (times (times l m) n) (times l (times m n)).
Proof.
  intro alpha. unfold gain. rewrite !sum_times. apply sum_ext; intros a _. rewrite sum_times. apply sum_ext; intros b _. apply sum_ext; intros c _.
  simpl. f_equal; ring. Qed.

Lemma equal_dominated l m : equal l m -> dominated l m.
Proof. intros E alpha _. rewrite E. apply le_refl. Qed.

Lemma dominated_trans l m n : dominated l m -> dominated m n -> dominated l n.
Proof. intros H K alpha A. apply le_trans with (gain alpha m); auto. Qed.

Lemma equal_trans l m n : equal l m -> equal m n -> equal l n.
Proof. intros H K alpha. now rewrite H. Qed.

Lemma equal_sym l m : equal l m -> equal m l.
Proof. intros H alpha. now rewrite H. Qed.

Theorem times_dominated l l' m m' : good l -> good l' -> good m -> good m' -> dominated l l' -> dominated m m' ->
  dominated (times l m) (times l' m').
Proof.
  intros G G' H H' D E. apply dominated_trans with (times l m'); [now apply times_dominated_right |].
  apply dominated_trans with (times m' l); [apply equal_dominated, times_comm |].
  apply dominated_trans with (times m' l'); [now apply times_dominated_right |]. apply equal_dominated, times_comm. Qed.

(** Several runs. *)
Definition nothing : law := [(1, 1)].
Fixpoint power (l : law) (n : nat) : law := match n with O => nothing | S n' => times l (power l n') end.

Lemma good_nothing : good nothing.
Proof. intros p q [E | []]. injection E as <- <-. split; apply one_ge0. Qed.

Lemma good_power l n : good l -> good (power l n).
Proof. intro G. induction n; simpl; [apply good_nothing | now apply good_times]. Qed.

Lemma times_nothing l : equal (times nothing l) l.
Proof. intro alpha. unfold gain. rewrite sum_times. simpl. transitivity (sum l (fun b => pos (1 * fst b - alpha * (1 * snd b))) + 0); [reflexivity |].
  transitivity (sum l (fun b => pos (1 * fst b - alpha * (1 * snd b)))); [ring |]. apply sum_ext; intros b _. f_equal; ring. Qed.

Lemma mass_nothing : mass nothing = 1.
Proof. unfold mass, nothing; simpl; ring. Qed.

Lemma mass_power l n : mass l = 1 -> mass (power l n) = 1.
Proof. intro M. induction n as [| n IH]; simpl; [apply mass_nothing | rewrite mass_times, M, IH; ring]. Qed.

(** Products of equal laws are equal, where no mass is negative. *)
Lemma times_equal_right l m m' : good l -> good m -> good m' -> (forall alpha, 0 <= alpha -> gain alpha m = gain alpha m') ->
  forall alpha, 0 <= alpha -> gain alpha (times l m) = gain alpha (times l m').
Proof.
  intros G H H' E alpha A. apply le_antisym.
  - apply times_dominated_right; auto. intros b B. rewrite E by assumption. apply le_refl.
  - apply times_dominated_right; auto. intros b B. rewrite E by assumption. apply le_refl. Qed.

(** As often as each law runs. *)
Fixpoint joint (laws : list law) (runs : list nat) : law :=
  match laws, runs with
  | l :: laws', n :: runs' => times (power l n) (joint laws' runs')
  | _, _ => nothing
  end.

Definition same_gains (l m : law) := forall alpha, 0 <= alpha -> gain alpha l = gain alpha m.

Lemma same_trans l m n : same_gains l m -> same_gains m n -> same_gains l n.
Proof. intros H K alpha A. rewrite H by assumption. now apply K. Qed.

Lemma same_sym l m : same_gains l m -> same_gains m l.
Proof. intros H alpha A. symmetry. now apply H. Qed.

Lemma equal_same l m : equal l m -> same_gains l m.
Proof. intros H alpha _. apply H. Qed.

Lemma same_times l l' m m' : good l -> good l' -> good m -> good m' -> same_gains l l' -> same_gains m m' -> same_gains (times l m) (times l' m').
Proof.
  intros G G' H H' D E. apply same_trans with (times l m'); [intros alpha A; now apply times_equal_right |].
  apply same_trans with (times m' l); [apply equal_same, times_comm |].
  apply same_trans with (times m' l'); [intros alpha A; now apply times_equal_right |]. apply equal_same, times_comm. Qed.

Lemma power_add l n m : good l -> same_gains (power l (n + m)) (times (power l n) (power l m)).
Proof.
  intro G. induction n as [| n IH]; simpl.
  - apply equal_same, equal_sym, times_nothing.
  - apply same_trans with (times l (times (power l n) (power l m))).
    + apply same_times; auto using good_power, good_times. intros alpha _. reflexivity.
    + apply equal_same, equal_sym, times_assoc. Qed.

Definition all_good (laws : list law) := forall l, In l laws -> good l.

Lemma good_joint laws : all_good laws -> forall runs, good (joint laws runs).
Proof. induction laws as [| l laws IH]; intros G [| n runs]; simpl; try apply good_nothing.
  apply good_times; [apply good_power, G; now left |]. apply IH. intros m I. apply G. now right. Qed.

Lemma mass_joint laws : (forall l, In l laws -> mass l = 1) -> forall runs, mass (joint laws runs) = 1.
Proof. induction laws as [| l laws IH]; intros G [| n runs]; simpl; try apply mass_nothing.
  rewrite mass_times, (mass_power n (G l (or_introl eq_refl))), IH; [ring |]. intros m I. apply G. now right. Qed.

Fixpoint plus_runs (a b : list nat) : list nat := match a, b with n :: a', m :: b' => (n + m)%nat :: plus_runs a' b' | _, _ => [] end.

Lemma shuffled a b c d : equal (times (times a b) (times c d)) (times (times a c) (times b d)).
Proof.
  intro alpha. unfold gain. rewrite !sum_times. apply sum_ext; intros x _.
  transitivity (sum b (fun y => sum c (fun z => sum d (fun w => pos (fst x * fst y * (fst z * fst w) - alpha * (snd x * snd y * (snd z * snd w))))))).
  - apply sum_ext; intros y _. rewrite sum_times. reflexivity.
  - rewrite sum_swap. apply sum_ext; intros z _. rewrite sum_times. apply sum_ext; intros y _. apply sum_ext; intros w _. simpl. f_equal; ring. Qed.

Lemma joint_add laws : all_good laws -> forall a b, length a = length laws -> length b = length laws ->
  same_gains (joint laws (plus_runs a b)) (times (joint laws a) (joint laws b)).
Proof.
  induction laws as [| l laws IH]; intros G [| n a] [| m b] Ea Eb; try easy.
  - apply equal_same, equal_sym. apply (times_nothing nothing).
  - injection Ea as Ea. injection Eb as Eb. simpl. assert (Gl : good l) by (apply G; now left). assert (G' : all_good laws) by (intros x I; apply G; now right).
    apply same_trans with (times (times (power l n) (power l m)) (times (joint laws a) (joint laws b))).
    + apply same_times; auto using good_power, good_times, good_joint. now apply power_add.
    + apply equal_same, shuffled. Qed.
End Laws.

(** ** The exponential function, as far as it is needed: on rationals, into the field *)
Record exponential (F : OrderedField) (E : Q -> F) : Prop := {
  exp_eq : forall x y, (x == y)%Q -> E x = E y;
  exp_add : forall x y, E (x + y)%Q = mul (E x) (E y);
  exp_above : forall x, le (add one (ofQ x)) (E x)
}.

Section Exponential.
Variable F : OrderedField.
Add Field F_field2 : (field_ok F).
Local Open Scope field_scope.
Variable E : Q -> F.
Hypothesis E_ok : exponential E.

Lemma exp_0 : E 0%Q = 1.
Proof.
  assert (H : E 0%Q * E 0%Q = E 0%Q) by (rewrite <- (exp_add E_ok); now apply (exp_eq E_ok)).
  assert (K : 1 <= E 0%Q) by (apply le_trans with (1 + ofQ 0); [rewrite ofQ_0; apply le_by with (0 : F); [ring | apply le_refl] | apply (exp_above E_ok)]).
  assert (N : E 0%Q <> 0) by (intro Z; rewrite Z in K; exact (one_gt0 K)).
  replace (1 : F) with (E 0%Q / E 0%Q) by (field; assumption). rewrite <- H at 2. field. assumption. Qed.

Lemma exp_inverse x : E x * E (- x)%Q = 1.
Proof. rewrite <- (exp_add E_ok), <- exp_0. apply (exp_eq E_ok). ring. Qed.

Lemma exp_ge0 x : 0 <= E x.
Proof.
  replace (E x) with (E (x / (2 # 1))%Q * E (x / (2 # 1))%Q) by (rewrite <- (exp_add E_ok); apply (exp_eq E_ok); field).
  destruct (le_total 0 (E (x / (2 # 1))%Q)) as [H | H]; [now apply le_mul |].
  apply le_by with ((0 - E (x / (2 # 1))%Q) * (0 - E (x / (2 # 1))%Q)); [ring |]. apply le_mul; now apply sub_ge0. Qed.

Lemma exp_gt0 x : 0 < E x.
Proof. intro H. assert (Z : E x = 0) by (apply le_antisym; [assumption | apply exp_ge0]).
  pose proof (exp_inverse x) as K. rewrite Z in K. apply (F_1_neq_0 (field_ok F)). rewrite <- K. ring. Qed.

Lemma exp_mono x y : (x <= y)%Q -> E x <= E y.
Proof.
  intro H. assert (K : 1 <= E (y - x)%Q).
  { apply le_trans with (1 + ofQ (y - x)); [| apply (exp_above E_ok)]. apply le_by with (ofQ (y - x) : F); [ring |]. apply ofQ_ge0. lra. }
  replace (E y) with (E x * E (y - x)%Q) by (rewrite <- (exp_add E_ok); apply (exp_eq E_ok); ring).
  apply le_by with (E x * (E (y - x)%Q - 1)); [ring |]. apply le_mul; [apply exp_ge0 | now apply sub_ge0]. Qed.

Lemma cut_by (c x y : F) : 0 < c -> c * x <= c * y -> x <= y.
Proof.
  intros C H. replace x with (inv c * (c * x)) by (field; now apply lt_neq). replace y with (inv c * (c * y)) by (field; now apply lt_neq).
  apply le_scale; [apply lt_le; now apply inv_gt0 | assumption]. Qed.

(** ** Measures on a grid, in integers of some unit *)
Notation z_ := (ofZ F).

Lemma ofZ_sub a b : z_ (a - b)%Z = z_ a - z_ b.
Proof. unfold Z.sub. rewrite ofZ_add, ofZ_opp. ring. Qed.

(** What mass 1 at a loss adds to delta. *)
Definition worth (grid : Q) (alpha : F) (z : Z) : F := pos (1 - alpha * E (- (grid * inject_Z z))%Q).

Fixpoint value (h : Z -> F) (low : Z) (a : list Z) : F := match a with [] => 0 | x :: a' => z_ x * h low + value h (low + 1)%Z a' end.
Definition total (a : list Z) : Z := fold_right Z.add 0%Z a.
Definition no_less (a : list Z) := forall x, In x a -> (0 <= x)%Z.

Lemma worth_ge0 grid alpha z : 0 <= worth grid alpha z.
Proof. apply pos_ge0. Qed.

Lemma worth_le1 grid alpha z : 0 <= alpha -> worth grid alpha z <= 1.
Proof. intro A. apply pos_least; [apply one_ge0 |]. apply le_by with (alpha * E (- (grid * inject_Z z))%Q); [ring |]. apply le_mul; [assumption | apply exp_ge0]. Qed.

Lemma worth_mono grid alpha y z : (0 <= grid)%Q -> 0 <= alpha -> (y <= z)%Z -> worth grid alpha y <= worth grid alpha z.
Proof.
  intros G A H. apply pos_mono. apply le_by with (alpha * (E (- (grid * inject_Z y))%Q - E (- (grid * inject_Z z))%Q)); [ring |].
  apply le_mul; [assumption |]. apply sub_ge0, exp_mono. rewrite Zle_Qle in H. nra. Qed.

Lemma value_le h low a b : (forall z, 0 <= h z) -> Forall2 (fun x y => (x <= y)%Z) a b -> value h low a <= value h low b.
Proof. intros H K. revert low. induction K as [| x y a b L K IH]; intro low; simpl; [apply le_refl |]. apply le_add2; [| apply IH].
  apply le_by with ((z_ y - z_ x) * h low); [ring |]. apply le_mul; [| apply H]. rewrite <- ofZ_sub. apply ofZ_ge0; lia. Qed.

Lemma value_total h low a c : no_less a -> (forall z, h z <= c) -> value h low a <= z_ (total a) * c.
Proof. revert low; induction a as [| x a IH]; intros low N H; simpl.
  - change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [ring | apply le_refl].
  - rewrite ofZ_add. apply le_trans with (z_ x * c + z_ (total a) * c); [| apply le_by with (0 : F); [ring | apply le_refl]].
    apply le_add2; [apply le_scale; [apply ofZ_ge0, N; now left | apply H] | apply IH; [intros y I; apply N; now right | assumption]]. Qed.

Lemma value_app h low a b : value h low (a ++ b) = value h low a + value h (low + Z.of_nat (length a))%Z b.
Proof. revert low; induction a as [| x a IH]; intro low; simpl.
  - rewrite Z.add_0_r. ring.
  - rewrite IH. replace (low + 1 + Z.of_nat (length a))%Z with (low + Z.pos (Pos.of_succ_nat (length a)))%Z by lia. ring. Qed.

(** Products: the convolution, and what it is worth. *)
Fixpoint plus (a b : list Z) : list Z := match a, b with [], _ => b | _, [] => a | x :: a', y :: b' => (x + y)%Z :: plus a' b' end.
Fixpoint conv (a b : list Z) : list Z := match a with [] => [] | x :: a' => plus (map (Z.mul x) b) (0%Z :: conv a' b) end.

Lemma value_plus h a : forall low b, value h low (plus a b) = value h low a + value h low b.
Proof. induction a as [| x a IH]; intros low [| y b]; simpl; try ring. rewrite IH, ofZ_add. ring. Qed.

Lemma value_map h x b : forall low, value h low (map (Z.mul x) b) = z_ x * value h low b.
Proof. induction b as [| y b IH]; intro low; simpl; [ring |]. rewrite IH, ofZ_mul. ring. Qed.

Lemma value_conv h a b : forall low low', value h (low + low')%Z (conv a b) = value (fun z => value (fun y => h (z + y)%Z) low' b) low a.
Proof.
  assert (Shift : forall z (b : list Z) low, value h (z + low)%Z b = value (fun y => h (z + y)%Z) low b).
  { intros z b'. induction b' as [| y b' IH]; intro low; simpl; [reflexivity |]. rewrite <- IH. do 2 f_equal; lia. }
  induction a as [| x a IH]; intros low low'; simpl; [reflexivity |]. rewrite value_plus, value_map, Shift. simpl. change (ofZ F 0) with (0 : F).
  replace (low + low' + 1)%Z with (low + 1 + low')%Z by lia. rewrite IH. ring. Qed.

(** A grid of twice the step: an odd entry is split over its neighbours, of which the upper one gets the share 1 / (1 + e^-step) or more. *)
Lemma coarser_worth grid (alpha : F) z (x u v : F) : 0 <= alpha -> Z.odd z = true -> x * E (- grid)%Q <= u * (1 + E (- grid)%Q) -> x <= v * (1 + E (- grid)%Q) -> 0 <= x ->
  x * worth grid alpha z <= u * worth (2 * grid) alpha (z / 2) + v * worth (2 * grid) alpha (z / 2 + 1).
Proof.
  intros A Odd Hu Hv X. set (k := (z / 2)%Z).
  assert (Z2 : (z = 2 * k + 1)%Z) by (unfold k; rewrite (Z.div_mod z 2) at 1; [rewrite Zmod_odd, Odd; reflexivity | lia]).
  set (y := E (- (grid * inject_Z z))%Q). set (e := E (- grid)%Q) in *. set (i := E grid).
  assert (Ei : i * e = 1) by apply exp_inverse.
  assert (Lo : worth (2 * grid) alpha k = pos (1 - alpha * (y * i))).
  { unfold worth. do 3 f_equal. unfold y, i. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Z2, inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2%Q. change (inject_Z 1) with 1%Q. ring. }
  assert (Hi : worth (2 * grid) alpha (k + 1) = pos (1 - alpha * (y * e))).
  { unfold worth. do 3 f_equal. unfold y, e. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Z2, !inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2%Q. change (inject_Z 1) with 1%Q. ring. }
  rewrite Lo, Hi. change (worth grid alpha z) with (pos (1 - alpha * y)).
  assert (S0 : 0 < 1 + e) by (apply add_gt0; [apply one_gt0 | apply exp_ge0]).
  assert (E0 : 0 <= e) by apply exp_ge0.
  (* the mean of both ends *)
  assert (Mean : (1 + e) * pos (1 - alpha * y) <= e * pos (1 - alpha * (y * i)) + pos (1 - alpha * (y * e))).
  { rewrite <- !pos_scale by (assumption || now apply lt_le).
    replace ((1 + e) * (1 - alpha * y)) with (e * (1 - alpha * (y * i)) + (1 - alpha * (y * e))).
    - apply pos_add.
    - replace (e * (1 - alpha * (y * i))) with (e - alpha * y * (i * e)) by ring. rewrite Ei. ring. }
  set (lo := pos (1 - alpha * (y * i))) in *. set (hi := pos (1 - alpha * (y * e))) in *. set (m := pos (1 - alpha * y)) in *.
  apply cut_by with (1 + e); [assumption |].
  apply le_by with (x * (e * lo + hi - (1 + e) * m) + (u * (1 + e) - x * e) * lo + (v * (1 + e) - x) * hi); [ring |].
  assert (0 <= lo) by apply pos_ge0. assert (0 <= hi) by apply pos_ge0.
  apply add_ge0; [apply add_ge0 |]; apply le_mul; try (now apply sub_ge0); assumption. Qed.

Lemma value_ext h h' low a : (forall z, h z = h' z) -> value h low a = value h' low a.
Proof. intro H. revert low; induction a as [| x a IH]; intro low; simpl; [reflexivity | now rewrite H, IH]. Qed.

Lemma value_fun_le h h' low a : no_less a -> (forall z, h z <= h' z) -> value h low a <= value h' low a.
Proof. intros N H. revert low; induction a as [| x a IH]; intro low; simpl; [apply le_refl |].
  apply le_add2; [apply le_scale; [apply ofZ_ge0, N; now left | apply H] | apply IH; intros y I; apply N; now right]. Qed.

Lemma value_scale c h low a : value (fun z => c * h z) low a = c * value h low a.
Proof. revert low; induction a as [| x a IH]; intro low; simpl; [ring | rewrite IH; ring]. Qed.

Lemma value_fun_plus h h' low a : value (fun z => h z + h' z) low a = value h low a + value h' low a.
Proof. revert low; induction a as [| x a IH]; intro low; simpl; [ring | rewrite IH; ring]. Qed.

Lemma value_const c low a : value (fun _ => c) low a = z_ (total a) * c.
Proof. revert low; induction a as [| x a IH]; intro low; simpl; [change (ofZ F 0) with (0 : F); ring | rewrite IH, ofZ_add; ring]. Qed.

Lemma value_sum (X : Type) (l : list X) (h : X -> Z -> F) low a : sum l (fun b => value (h b) low a) = value (fun z => sum l (fun b => h b z)) low a.
Proof. revert low; induction a as [| x a IH]; intro low; simpl; [apply sum_0 |]. rewrite sum_plus, sum_scale, IH. reflexivity. Qed.

Lemma value_ge0 h low a : no_less a -> (forall z, 0 <= h z) -> 0 <= value h low a.
Proof. intros N H. revert low; induction a as [| x a IH]; intro low; simpl; [apply le_refl |].
  apply add_ge0; [apply le_mul; [apply ofZ_ge0, N; now left | apply H] | apply IH; intros y I; apply N; now right]. Qed.

(** ** From above *)
Section Unit.
Variable unit : Z.
Hypothesis unit_pos : (0 < unit)%Z.
Variable grid : Q.
Hypothesis grid_ge0 : (0 <= grid)%Q.

Lemma unit_gt0 : 0 < z_ unit.
Proof. destruct unit; try lia. apply ofZ_pos. Qed.

(** Entries stand for masses that a weight of their place tells, in units: all alike, or falling with the loss. *)
Definition weights := Z -> F.
Definition weighty (w : weights) := forall z, 0 <= w z.

(** Masses by loss, and some at infinity, are worth at least what a law gains. *)
Definition bounded (w : weights) (step : Q) (mu : law F) (low : Z) (above : list Z) (excess : Q) := no_less above /\ (0 <= excess)%Q /\
  forall alpha, 0 <= alpha -> z_ unit * gain alpha mu <= value (fun z => w z * worth step alpha z) low above + z_ unit * ofQ excess.

Lemma worth_further alpha y z : worth grid (alpha * E (- (grid * inject_Z z))%Q) y = worth grid alpha (z + y).
Proof.
  unfold worth. do 2 f_equal.
  replace (alpha * E (- (grid * inject_Z z))%Q * E (- (grid * inject_Z y))%Q) with (alpha * (E (- (grid * inject_Z z))%Q * E (- (grid * inject_Z y))%Q)) by ring.
  rewrite <- (exp_add E_ok). f_equal. apply (exp_eq E_ok). rewrite inject_Z_plus. ring. Qed.

Lemma rounded_down h low a c : (forall z, 0 <= h z) -> Forall2 (fun v w => (unit * w <= v)%Z) a c -> z_ unit * value h low c <= value h low a.
Proof. intros H C. revert low. induction C as [| v w a c L C IH]; intro low; simpl; [apply le_by with (0 : F); [ring | apply le_refl] |].
  match goal with |- ?u * (?r * ?k + ?t) <= ?p * ?k + ?q => apply le_by with ((p - u * r) * k + (q - u * t)) end; [ring |].
  apply add_ge0; [| apply sub_ge0, IH]. apply le_mul; [| apply H]. rewrite <- ofZ_mul, <- ofZ_sub. apply ofZ_ge0; lia. Qed.

Lemma rounded_up h low a c : (forall z, 0 <= h z) -> Forall2 (fun v w => (v <= unit * w)%Z) a c -> value h low a <= z_ unit * value h low c.
Proof. intros H C. revert low. induction C as [| v w a c L C IH]; intro low; simpl; [apply le_by with (0 : F); [ring | apply le_refl] |].
  match goal with |- ?p * ?k + ?q <= ?u * (?r * ?k + ?t) => apply le_by with ((u * r - p) * k + (u * t - q)) end; [ring |].
  apply add_ge0; [| apply sub_ge0, IH]. apply le_mul; [| apply H]. rewrite <- ofZ_mul, <- ofZ_sub. apply ofZ_ge0; lia. Qed.

(** Products, rounded up (rule O4): weights multiply. *)
Theorem product_bounded w w' w2 mu nu low low' a b x y c e m : weighty w -> weighty w2 -> (forall z y, w z * w' y = w2 (z + y)%Z) ->
  good mu -> good nu -> mass nu <= 1 -> bounded w grid mu low a x -> bounded w' grid nu low' b y ->
  Forall2 (fun v w => (v <= unit * w)%Z) (conv a b) c -> no_less c -> value w low a <= z_ unit * ofQ m -> (0 <= x + m * y <= e)%Q ->
  bounded w2 grid (times mu nu) (low + low') c e.
Proof.
  intros W W2 Mul G H One (Na & X0 & Ba) (Nb & Y0 & Bb) Cv Nc Ma [Ex0 Ex]. split; [assumption | split; [lra |]]. intros alpha A.
  pose proof unit_gt0 as U0. pose proof (lt_le U0) as U1.
  (* one output of nu beside mu *)
  assert (K : forall p q, In (p, q) nu -> z_ unit * sum mu (fun b => pos (p * fst b - alpha * (q * snd b))) <=
    value (fun z => w z * pos (p - alpha * E (- (grid * inject_Z z))%Q * q)) low a + z_ unit * ofQ x * p).
  { intros p q I. destruct (H _ _ I) as [P Q0]. rewrite gain_beside by assumption. destruct (eq_dec p 0) as [Z | N].
    - rewrite Z. replace (z_ unit * (0 * gain 0 mu)) with (0 : F) by ring. apply add_ge0; [apply value_ge0; [assumption | intro; apply le_mul; [apply W | apply pos_ge0]] |].
      apply le_mul; [apply le_mul; [assumption | now apply ofQ_ge0] | apply le_refl].
    - assert (P' : 0 < p) by (intro L; apply N; now apply le_antisym).
      assert (A' : 0 <= alpha * q / p).
      { replace (alpha * q / p) with (alpha * q * inv p) by (field; assumption). apply le_mul; [now apply le_mul | apply lt_le; now apply inv_gt0]. }
      apply le_trans with (p * (value (fun z => w z * worth grid (alpha * q / p) z) low a + z_ unit * ofQ x)).
      + apply le_by with (p * (value (fun z => w z * worth grid (alpha * q / p) z) low a + z_ unit * ofQ x - z_ unit * gain (alpha * q / p) mu)); [ring |].
        apply le_mul; [assumption | apply sub_ge0; now apply Ba].
      + apply le_by with (0 : F); [| apply le_refl].
        assert (Ev : value (fun z => w z * pos (p - alpha * E (- (grid * inject_Z z))%Q * q)) low a = p * value (fun z => w z * worth grid (alpha * q / p) z) low a).
        { rewrite <- value_scale. apply value_ext. intro z. unfold worth.
          replace (p * (w z * pos (1 - alpha * q / p * E (- (grid * inject_Z z))%Q))) with (w z * (p * pos (1 - alpha * q / p * E (- (grid * inject_Z z))%Q))) by ring.
          rewrite <- (@pos_scale _ p _ P). do 2 f_equal. field. assumption. }
        rewrite Ev. ring. }
  assert (Sum : z_ unit * gain alpha (times mu nu) <= value (fun z => w z * gain (alpha * E (- (grid * inject_Z z))%Q) nu) low a + z_ unit * ofQ x).
  { rewrite times_comm, gain_times, <- sum_scale.
    apply le_trans with (sum nu (fun e => value (fun z => w z * pos (fst e - alpha * E (- (grid * inject_Z z))%Q * snd e)) low a + z_ unit * ofQ x * fst e)).
    - apply sum_le. intros [p q] I. now apply K.
    - rewrite sum_plus, value_sum, sum_scale. apply le_add2.
      + apply value_fun_le; [assumption |]. intro z. rewrite sum_scale. apply le_refl.
      + apply le_by with (z_ unit * ofQ x * (1 - mass nu)); [unfold mass; ring |]. apply le_mul; [apply le_mul; [assumption | now apply ofQ_ge0] | now apply sub_ge0]. }
  assert (Each : z_ unit * value (fun z => w z * gain (alpha * E (- (grid * inject_Z z))%Q) nu) low a <=
    value (fun z => w2 z * worth grid alpha z) (low + low') (conv a b) + value w low a * (z_ unit * ofQ y)).
  { rewrite value_conv, <- value_scale.
    replace (value w low a * (z_ unit * ofQ y)) with (value (fun z => w z * (z_ unit * ofQ y)) low a).
    2: { rewrite (value_ext (h := fun z => w z * (z_ unit * ofQ y)) (h' := fun z => z_ unit * ofQ y * w z)) by (intro; ring). rewrite value_scale. ring. }
    rewrite <- value_fun_plus. apply value_fun_le; [assumption |]. intro z.
    replace (z_ unit * (w z * gain (alpha * E (- (grid * inject_Z z))%Q) nu)) with (w z * (z_ unit * gain (alpha * E (- (grid * inject_Z z))%Q) nu)) by ring.
    eapply le_trans; [apply le_scale; [apply W |]; apply Bb; apply le_mul; [assumption | apply exp_ge0] |].
    apply le_by with (0 : F); [| apply le_refl].
    rewrite (@value_ext (fun y => w2 (z + y)%Z * worth grid alpha (z + y)) (fun y => w z * (w' y * worth grid (alpha * E (- (grid * inject_Z z))%Q) y)) low' b).
    - rewrite value_scale. ring.
    - intro y0. rewrite worth_further, <- Mul. ring. }
  assert (Round : value (fun z => w2 z * worth grid alpha z) (low + low') (conv a b) <= z_ unit * value (fun z => w2 z * worth grid alpha z) (low + low') c).
  { apply rounded_up; [| assumption]. intro z. apply le_mul; [apply W2 | apply worth_ge0]. }
  set (g := gain alpha (times mu nu)) in *. set (S1 := value (fun z => w z * gain (alpha * E (- (grid * inject_Z z))%Q) nu) low a) in *.
  set (S2 := value (fun z => w2 z * worth grid alpha z) (low + low') (conv a b)) in *. set (S3 := value (fun z => w2 z * worth grid alpha z) (low + low') c) in *.
  apply cut_by with (z_ unit); [assumption |].
  apply le_trans with (z_ unit * (S1 + z_ unit * ofQ x)); [now apply le_scale |].
  apply le_trans with (z_ unit * S3 + z_ unit * ofQ m * (z_ unit * ofQ y) + z_ unit * (z_ unit * ofQ x)).
  - apply le_by with ((S2 + value w low a * (z_ unit * ofQ y) - z_ unit * S1) + (z_ unit * S3 - S2) + (z_ unit * ofQ m - value w low a) * (z_ unit * ofQ y)); [ring |].
    apply add_ge0; [apply add_ge0; now apply sub_ge0 | apply le_mul; [now apply sub_ge0 | apply le_mul; [assumption | now apply ofQ_ge0]]].
  - assert (Q1 : (ofQ x : F) + ofQ m * ofQ y <= ofQ e) by (rewrite <- ofQ_mul, <- ofQ_add; now apply ofQ_le).
    apply le_by with (z_ unit * z_ unit * (ofQ e - (ofQ x + ofQ m * ofQ y))); [ring |]. apply le_mul; [now apply le_mul | now apply sub_ge0]. Qed.

(** A window (rule O4): what is below moves up to the first entry, what is above to infinity. *)
Theorem window_bounded w mu low front x mid rest e moved m : weighty w -> bounded w grid mu low (front ++ (x :: mid) ++ rest) e ->
  let low' := (low + Z.of_nat (length front))%Z in
  (0 <= moved)%Z -> value w low front <= z_ moved * w low' -> value w (low' + Z.of_nat (length (x :: mid)))%Z rest <= z_ unit * ofQ m -> (0 <= m)%Q ->
  bounded w grid mu low' ((x + moved)%Z :: mid) (e + m).
Proof.
  intros W (N & E0 & B) low' V0 Mv Ms M0. assert (Nf : no_less front) by (intros y I; apply N, in_app_iff; now left).
  assert (Nm : no_less (x :: mid)) by (intros y I; apply N, in_app_iff; right; apply in_app_iff; now left).
  assert (Nr : no_less rest) by (intros y I; apply N, in_app_iff; right; apply in_app_iff; now right).
  split; [| split; [lra |]].
  - intros y [<- | I]; [specialize (Nm x (or_introl eq_refl)); lia | apply Nm; now right].
  - intros alpha A. eapply le_trans; [now apply B |]. rewrite !value_app, ofQ_add. fold low'. set (h := fun z => w z * worth grid alpha z).
    assert (H1 : value h low front <= value w low front * worth grid alpha low').
    { unfold low'. clear - W E_ok grid_ge0 A Nf. subst h. revert low; induction front as [| y f IH]; intro low; simpl; [apply le_by with (0 : F); [ring | apply le_refl] |].
      replace (low + Z.pos (Pos.of_succ_nat (length f)))%Z with (low + 1 + Z.of_nat (length f))%Z by lia.
      apply le_trans with (z_ y * w low * worth grid alpha (low + 1 + Z.of_nat (length f))%Z + value w (low + 1) f * worth grid alpha (low + 1 + Z.of_nat (length f))%Z);
        [| apply le_by with (0 : F); [ring | apply le_refl]].
      apply le_add2; [| apply IH; intros z I; apply Nf; now right].
      apply le_trans with (z_ y * w low * worth grid alpha low); [apply le_by with (0 : F); [ring | apply le_refl] |].
      apply le_scale; [apply le_mul; [apply ofZ_ge0, Nf; now left | apply W] | apply worth_mono; auto; lia]. }
    assert (H2 : value h (low' + Z.of_nat (length (x :: mid)))%Z rest <= value w (low' + Z.of_nat (length (x :: mid)))%Z rest).
    { apply value_fun_le; [assumption |]. intro z. unfold h. apply le_by with (w z * (1 - worth grid alpha z)); [ring |]. apply le_mul; [apply W | apply sub_ge0; now apply worth_le1]. }
    simpl. rewrite ofZ_add. set (v := value h (low' + 1)%Z mid) in *. set (r := value h _ rest) in *. set (f := value h low front) in *.
    pose proof (worth_ge0 grid alpha low') as Wo. set (o := worth grid alpha low') in *. unfold h. fold o.
    match goal with |- ?l <= ?r0 => apply le_by with ((value w low front * o - f) + (z_ moved * w low' - value w low front) * o
      + (value w (low' + Z.of_nat (length (x :: mid)))%Z rest - r) + (z_ unit * ofQ m - value w (low' + Z.of_nat (length (x :: mid)))%Z rest)) end; [simpl; ring |].
    repeat apply add_ge0; try (now apply sub_ge0). apply le_mul; [now apply sub_ge0 | assumption]. Qed.

(** Lemma 3 of the note: a mass of one is enough. *)
Lemma gain_line (mu : law F) (alpha beta : F) : 0 <= alpha -> alpha <= beta -> 0 < beta -> good mu -> beta * gain alpha mu <= (beta - alpha) * mass mu + alpha * gain beta mu.
Proof.
  intros A B P G. unfold gain, mass. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros [p q] I. simpl. destruct (G _ _ I) as [P0 Q0].
  rewrite <- pos_scale by (now apply lt_le).
  apply pos_least; [apply add_ge0; apply le_mul; try assumption; [now apply sub_ge0 | apply pos_ge0] |].
  apply le_by with (alpha * (pos (p - beta * q) - (p - beta * q))); [ring | apply le_mul; [assumption | apply sub_ge0, pos_ge]]. Qed.

Theorem surplus_bounded w mu low x mid e less : weighty w -> good mu -> mass mu <= 1 -> bounded w grid mu low (x :: mid) e -> (0 <= less <= x)%Z ->
  less = 0%Z \/ z_ unit <= value w low ((x - less)%Z :: mid) + z_ unit * ofQ e -> bounded w grid mu low ((x - less)%Z :: mid) e.
Proof.
  intros W G One B L [-> | M]; [now rewrite Z.sub_0_r |]. destruct B as (N & E0 & B).
  assert (N' : no_less ((x - less)%Z :: mid)) by (intros y [<- | I]; [lia | apply N; now right]).
  split; [assumption | split; [assumption |]]. intros alpha A. set (b := E (grid * inject_Z low)%Q). assert (B0 : 0 < b) by apply exp_gt0.
  assert (Zero : forall al, b <= al -> worth grid al low = 0).
  { intros al H. apply pos_of_le0. apply le_by with ((al - b) * E (- (grid * inject_Z low))%Q + (b * E (- (grid * inject_Z low))%Q - 1)); [ring |].
    unfold b at 2. rewrite exp_inverse. apply add_ge0; [apply le_mul; [now apply sub_ge0 | apply exp_ge0] | apply le_by with (0 : F); [ring | apply le_refl]]. }
  destruct (le_total b alpha) as [H | H].
  - eapply le_trans; [now apply B |]. simpl. rewrite (Zero _ H). apply le_by with (0 : F); [ring | apply le_refl].
  - apply cut_by with b; [assumption |]. set (v := value (fun z => w z * worth grid alpha z) low ((x - less)%Z :: mid)).
    set (vb := value (fun z => w z * worth grid b z) low ((x - less)%Z :: mid)). set (v1 := value w low ((x - less)%Z :: mid)) in *.
    (* no term is cut off between 0 and b *)
    assert (Line : b * v = (b - alpha) * v1 + alpha * vb).
    { assert (T : forall z, (low <= z)%Z -> forall al, al <= b -> worth grid al z = 1 - al * E (- (grid * inject_Z z))%Q).
      { intros z Lz al Hal. apply pos_of_ge0. apply le_by with ((1 - b * E (- (grid * inject_Z z))%Q) + (b - al) * E (- (grid * inject_Z z))%Q); [ring |].
        apply add_ge0; [| apply le_mul; [now apply sub_ge0 | apply exp_ge0]]. apply sub_ge0. unfold b. rewrite <- (exp_add E_ok), <- exp_0. apply exp_mono.
        assert (inject_Z low <= inject_Z z)%Q by now rewrite <- Zle_Qle. nra. }
      assert (Gen : forall l lo, (low <= lo)%Z -> b * value (fun z => w z * worth grid alpha z) lo l = (b - alpha) * value w lo l + alpha * value (fun z => w z * worth grid b z) lo l).
      { induction l as [| y l IH]; intros lo Lo; simpl; [ring |]. specialize (IH (lo + 1)%Z ltac:(lia)).
        rewrite (T lo Lo alpha H), (T lo Lo b (le_refl b)).
        replace (b * (z_ y * (w lo * (1 - alpha * E (- (grid * inject_Z lo))%Q)) + value (fun z => w z * worth grid alpha z) (lo + 1) l))
          with (b * (z_ y * (w lo * (1 - alpha * E (- (grid * inject_Z lo))%Q))) + b * value (fun z => w z * worth grid alpha z) (lo + 1) l) by ring.
        rewrite IH. ring. }
      apply Gen. lia. }
    pose proof (B b (lt_le B0)) as Bb. simpl in Bb. rewrite (Zero b (le_refl b)) in Bb.
    assert (Bb' : z_ unit * gain b mu <= vb + z_ unit * ofQ e) by (eapply le_trans; [exact Bb |]; unfold vb; simpl; rewrite (Zero b (le_refl b)); apply le_by with (0 : F); [ring | apply le_refl]).
    pose proof (gain_line A H B0 G) as K. pose proof (lt_le unit_gt0) as U.
    apply le_by with (z_ unit * ((b - alpha) * mass mu + alpha * gain b mu - b * gain alpha mu) + (b * v - ((b - alpha) * v1 + alpha * vb))
      + (b - alpha) * (v1 + z_ unit * ofQ e - z_ unit) + z_ unit * (b - alpha) * (1 - mass mu) + alpha * (vb + z_ unit * ofQ e - z_ unit * gain b mu)); [ring |].
    repeat apply add_ge0; repeat apply le_mul; try (now apply sub_ge0); try assumption. rewrite Line. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

(** delta at an epsilon (rule O6): each loss above it counts with 1 - e^(epsilon - loss). *)
Theorem bounded_delta w mu low front rest e epsilon : weighty w -> bounded w grid mu low (front ++ rest) e ->
  let first := (low + Z.of_nat (length front))%Z in (front = [] \/ grid * inject_Z (first - 1) <= epsilon)%Q -> (rest = [] \/ epsilon <= grid * inject_Z first)%Q ->
  z_ unit * gain (E epsilon) mu <= value (fun z => w z * (1 - E (epsilon - grid * inject_Z z)%Q)) first rest + z_ unit * ofQ e.
Proof.
  intros W (N & _ & B) first Fr Fi. eapply le_trans; [apply B, exp_ge0 |]. apply le_add2; [| apply le_refl]. clear B.
  assert (Wo : forall z, worth grid (E epsilon) z = pos (1 - E (epsilon - grid * inject_Z z)%Q)).
  { intro z. unfold worth. do 2 f_equal. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). ring. }
  rewrite value_app. fold first.
  assert (H1 : value (fun z => w z * worth grid (E epsilon) z) low front = 0).
  { destruct Fr as [-> | Fr]; [reflexivity |]. clear - Wo E_ok grid_ge0 Fr. unfold first in Fr. clear first.
    revert low Fr. induction front as [| y f IH]; intros low Fr; simpl; [reflexivity |].
    assert (L : (grid * inject_Z low <= epsilon)%Q).
    { eapply Qle_trans; [| exact Fr]. assert (inject_Z low <= inject_Z (low + Z.of_nat (length (y :: f)) - 1))%Q by (rewrite <- Zle_Qle; simpl length; lia). nra. }
    rewrite Wo, pos_of_le0, IH; [ring | | ].
    - simpl length in Fr. replace (low + 1 + Z.of_nat (length f) - 1)%Z with (low + Z.of_nat (S (length f)) - 1)%Z by lia. exact Fr.
    - apply le_by with (E (epsilon - grid * inject_Z low)%Q - E 0%Q); [rewrite exp_0; ring |]. apply sub_ge0, exp_mono. lra. }
  rewrite H1. assert (H2 : value (fun z => w z * worth grid (E epsilon) z) first rest = value (fun z => w z * (1 - E (epsilon - grid * inject_Z z)%Q)) first rest).
  { destruct Fi as [-> | Fi]; [reflexivity |]. clear H1 Fr N. clearbody first. revert first Fi. induction rest as [| y r IH]; intros first Fi; simpl; [reflexivity |]. rewrite Wo, pos_of_ge0, IH; [reflexivity | |].
    - assert (inject_Z first <= inject_Z (first + 1))%Q by (rewrite <- Zle_Qle; lia). nra.
    - apply sub_ge0. rewrite <- exp_0. apply exp_mono. lra. }
  rewrite H2. apply le_by with (0 : F); [ring | apply le_refl]. Qed.

(** ** From below: labels *)
Inductive label := At (z : Z) | Sure | Out.
Definition labelled := list (label * (F * F)).
Definition seen (h : Z -> F) (l : label) : F := match l with At z => h z | _ => 0 end.
Definition is_sure (l : label) : F := match l with Sure => 1 | _ => 0 end.

(** Labels of outputs of a law, with masses of P at least p and sure, and of Q at most q, in units. *)
Definition shown (w v : weights) (mu : law F) (low : Z) (p q : list Z) (sure : Q) := exists L : labelled,
  good (map snd L) /\ mass (map snd L) = 1 /\ dominated (map snd L) mu /\
  (forall h, (forall z, 0 <= h z) -> value (fun z => w z * h z) low p <= z_ unit * sum L (fun e => fst (snd e) * seen h (fst e)) /\
     z_ unit * sum L (fun e => snd (snd e) * seen h (fst e)) <= value (fun z => v z * h z) low q) /\
  ofQ sure <= sum L (fun e => fst (snd e) * is_sure (fst e)) /\ (0 <= sure)%Q /\
  forall x y, In (Sure, (x, y)) L -> y = 0.

(** New labels: coarser ones, those of a window, or none (rules O3 and O4). *)
Definition renamed (f : Z -> option Z) (l : label) : label := match l with At z => match f z with Some y => At y | None => Out end | _ => l end.

Theorem renamed_shown w v w' v' mu low p q sure f low' p' q' : shown w v mu low p q sure ->
  (forall h, (forall z, 0 <= h z) -> let h' := fun z => match f z with Some y => h y | None => 0 end in
     value (fun z => w' z * h z) low' p' <= value (fun z => w z * h' z) low p /\ value (fun z => v z * h' z) low q <= value (fun z => v' z * h z) low' q') ->
  shown w' v' mu low' p' q' sure.
Proof.
  intros (L & G & M & D & V & S & S0 & Z) H. exists (map (fun e => (renamed f (fst e), snd e)) L).
  assert (Same : map snd (map (fun e => (renamed f (fst e), snd e)) L) = map snd L) by now rewrite map_map.
  rewrite Same. repeat (split; [assumption |]). split; [| split; [| split; [assumption |]]].
  - intros h H0. specialize (H h H0). cbv zeta in H. destruct H as [H1 H2].
    destruct (V (fun z => match f z with Some y => h y | None => 0 end)) as [V1 V2]; [intro z; destruct (f z); [apply H0 | apply le_refl] |].
    assert (Se : forall l, seen h (renamed f l) = seen (fun z => match f z with Some y => h y | None => 0 end) l) by (intros [z | |]; simpl; [destruct (f z) | |]; reflexivity).
    rewrite !sum_map. simpl. split.
    + eapply le_trans; [exact H1 |]. eapply le_trans; [exact V1 |]. apply le_by with (0 : F); [| apply le_refl].
      rewrite (sum_ext (f := fun e => fst (snd e) * seen h (renamed f (fst e))) (g := fun e => fst (snd e) * seen (fun z => match f z with Some y => h y | None => 0 end) (fst e))); [ring |].
      intros e _. now rewrite Se.
    + eapply le_trans; [| exact H2]. eapply le_trans; [| exact V2]. apply le_by with (0 : F); [| apply le_refl].
      rewrite (sum_ext (f := fun e => snd (snd e) * seen h (renamed f (fst e))) (g := fun e => snd (snd e) * seen (fun z => match f z with Some y => h y | None => 0 end) (fst e))); [ring |].
      intros e _. now rewrite Se.
  - eapply le_trans; [exact S |]. rewrite sum_map. apply le_by with (0 : F); [| apply le_refl]. simpl.
    rewrite (sum_ext (f := fun e => fst (snd e) * is_sure (renamed f (fst e))) (g := fun e => fst (snd e) * is_sure (fst e))); [ring |].
    intros [[z | |] e] _; simpl; [destruct (f z) | |]; reflexivity.
  - intros x y I. apply in_map_iff in I. destruct I as ([[z | |] e] & Ee & I); simpl in Ee; [destruct (f z); discriminate | | discriminate].
    injection Ee as ->. now apply (Z x). Qed.

Definition together (l m : label) : label := match l, m with
  | Sure, _ | _, Sure => Sure
  | At y, At z => At (y + z)
  | _, _ => Out
  end.
Definition joined (L M : labelled) : labelled := flat_map (fun a => map (fun b => (together (fst a) (fst b), (fst (snd a) * fst (snd b), snd (snd a) * snd (snd b)))) M) L.

Lemma joined_times L M : map snd (joined L M) = times (map snd L) (map snd M).
Proof. induction L as [| [l [x y]] L IH]; simpl; [reflexivity |]. unfold joined in *. simpl. unfold times. simpl. rewrite map_app, !map_map. f_equal. exact IH. Qed.

Lemma sum_joined L M (f : label * (F * F) -> F) : sum (joined L M) f =
  sum L (fun a => sum M (fun b => f (together (fst a) (fst b), (fst (snd a) * fst (snd b), snd (snd a) * snd (snd b))))).
Proof. unfold joined. rewrite sum_flat_map. apply sum_ext; intros a _. now rewrite sum_map. Qed.

(** Products of labels: those of P rounded down, those of Q up (rule O4). *)
Theorem product_shown w v w' v' w2 v2 mu nu low low' p q s p' q' s' p2 q2 s2 : weighty w' -> weighty v' -> weighty w2 -> weighty v2 ->
  (forall z y, w z * w' y = w2 (z + y)%Z) -> (forall z y, v z * v' y = v2 (z + y)%Z) ->
  good mu -> good nu -> no_less p' -> no_less q' -> shown w v mu low p q s -> shown w' v' nu low' p' q' s' ->
  Forall2 (fun v w => (unit * w <= v)%Z) (conv p p') p2 -> Forall2 (fun v w => (v <= unit * w)%Z) (conv q q') q2 ->
  (0 <= s2)%Q -> (s2 <= s + s' - s * s')%Q -> shown w2 v2 (times mu nu) (low + low') p2 q2 s2.
Proof.
  intros W' V' W2 V2 MulW MulV Gm Gn Np Nq (L & G & M & D & V & S & S0 & No) (L' & G' & M' & D' & V0' & S' & S0' & No') Dn Up S2 Sr.
  pose proof (lt_le unit_gt0) as U. exists (joined L L'). rewrite joined_times.
  assert (InL : forall l x y, In (l, (x, y)) L -> 0 <= x /\ 0 <= y) by (intros l x y I; apply G; now apply (in_map snd) in I).
  assert (InL' : forall l x y, In (l, (x, y)) L' -> 0 <= x /\ 0 <= y) by (intros l x y I; apply G'; now apply (in_map snd) in I).
  split; [now apply good_times |]. split; [rewrite mass_times, M, M'; ring |]. split; [now apply times_dominated |]. split; [| split; [| split; [assumption |]]].
  - intros h H. 
    assert (Sp : forall (c : F * F -> F), (forall a b, c (fst a * fst b, snd a * snd b) = c a * c b) ->
      sum (joined L L') (fun e => c (snd e) * seen h (fst e)) = sum L (fun a => c (snd a) * seen (fun z => sum L' (fun b => c (snd b) * seen (fun y => h (z + y)%Z) (fst b))) (fst a))).
    { intros c Mul. rewrite sum_joined. apply sum_ext. intros [l a] _. simpl. destruct l as [z | |]; simpl.
      - rewrite <- sum_scale. apply sum_ext. intros [m b] _. simpl. rewrite Mul. destruct m; simpl; ring.
      - transitivity (sum L' (fun _ => (0 : F))); [apply sum_ext; intros; ring | rewrite sum_0; ring].
      - transitivity (sum L' (fun _ => (0 : F))); [apply sum_ext; intros [[z | |] b] _; simpl; ring | rewrite sum_0; ring]. }
    assert (Seen : forall (k : Z -> F) m, (forall z, 0 <= k z) -> 0 <= seen k m) by (intros k [z | |] K; simpl; [apply K | apply le_refl | apply le_refl]).
    assert (Mono : forall (k k' : Z -> F) m, (forall z, k z <= k' z) -> seen k m <= seen k' m) by (intros k k' [z | |] K; simpl; [apply K | apply le_refl | apply le_refl]).
    assert (Scale : forall c (k : Z -> F) m, seen (fun z => c * k z) m = c * seen k m) by (intros c k [z | |]; simpl; ring).
    assert (Cut : forall x y : F, z_ unit * x <= z_ unit * y -> x <= y) by (intros; apply cut_by with (z_ unit); [apply unit_gt0 | assumption]).
    assert (Shift : forall z y : Z, 0 <= h (z + y)%Z) by (intros; apply H). split.
    + rewrite (Sp fst) by reflexivity. apply Cut. eapply le_trans; [apply rounded_down with (2 := Dn); intro z; apply le_mul; [apply W2 | apply H] |]. rewrite value_conv.
      destruct (V (fun z => value (fun y => w' y * h (z + y)%Z) low' p')) as [V1 _]; [intro z; apply value_ge0; [assumption | intro y; apply le_mul; [apply W' | apply H]] |].
      rewrite (@value_ext (fun z => value (fun y => w2 (z + y)%Z * h (z + y)%Z) low' p') (fun z => w z * value (fun y => w' y * h (z + y)%Z) low' p')).
      2: { intro z. rewrite <- value_scale. apply value_ext. intro y. rewrite <- MulW. ring. }
      eapply le_trans; [exact V1 |]. apply le_scale; [assumption |]. rewrite <- sum_scale. apply sum_le. intros [l [x y]] I. destruct (InL _ _ _ I) as [X _]. simpl.
      apply le_trans with (x * (z_ unit * seen (fun z => sum L' (fun b => fst (snd b) * seen (fun y0 => h (z + y0)%Z) (fst b))) l)); [| apply le_by with (0 : F); [ring | apply le_refl]].
      apply le_scale; [assumption |]. rewrite <- Scale. apply Mono. intro z. now apply (V0' (fun y0 => h (z + y0)%Z) (Shift z)).
    + rewrite (Sp snd) by reflexivity. apply Cut. eapply le_trans; [| apply rounded_up with (2 := Up); intro z; apply le_mul; [apply V2 | apply H]]. rewrite value_conv.
      destruct (V (fun z => value (fun y => v' y * h (z + y)%Z) low' q')) as [_ V3]; [intro z; apply value_ge0; [assumption | intro y; apply le_mul; [apply V' | apply H]] |].
      rewrite (@value_ext (fun z => value (fun y => v2 (z + y)%Z * h (z + y)%Z) low' q') (fun z => v z * value (fun y => v' y * h (z + y)%Z) low' q')).
      2: { intro z. rewrite <- value_scale. apply value_ext. intro y. rewrite <- MulV. ring. }
      eapply le_trans; [| exact V3]. apply le_scale; [assumption |]. rewrite <- sum_scale. apply sum_le. intros [l [x y]] I. destruct (InL _ _ _ I) as [_ Y]. simpl.
      apply le_trans with (y * (z_ unit * seen (fun z => sum L' (fun b => snd (snd b) * seen (fun y0 => h (z + y0)%Z) (fst b))) l)); [apply le_by with (0 : F); [ring | apply le_refl] |].
      apply le_scale; [assumption |]. rewrite <- Scale. apply Mono. intro z. now apply (V0' (fun y0 => h (z + y0)%Z) (Shift z)).
  - rewrite sum_joined. set (T := sum L (fun e => fst (snd e) * is_sure (fst e))) in *. set (T' := sum L' (fun e => fst (snd e) * is_sure (fst e))) in *.
    assert (Both : sum L (fun a => sum L' (fun b => fst (snd a) * fst (snd b) * is_sure (together (fst a) (fst b)))) = T + T' - T * T').
    { transitivity (sum L (fun a => fst (snd a) * is_sure (fst a) * mass (map snd L') + (fst (snd a) * T' + (- (1)) * (T' * (fst (snd a) * is_sure (fst a)))))).
      - apply sum_ext. intros [l [x y]] _. simpl. unfold mass, T'. rewrite sum_map.
        transitivity (sum L' (fun b => x * is_sure l * fst (snd b) + (x * (fst (snd b) * is_sure (fst b)) + (- (1)) * (x * is_sure l * (fst (snd b) * is_sure (fst b)))))).
        + apply sum_ext. intros [m [x' y']] _. simpl. destruct l, m; simpl; ring.
        + rewrite !sum_plus, !sum_scale. ring.
      - rewrite !sum_plus, !sum_scale, M'. fold T.
        replace (sum L (fun x => fst (snd x) * is_sure (fst x) * 1)) with T by (unfold T; apply sum_ext; intros; ring).
        replace (sum L (fun x => fst (snd x) * T')) with T'; [ring |].
        transitivity (sum L (fun x => T' * fst (snd x))); [| apply sum_ext; intros; ring]. rewrite sum_scale. unfold mass in M. rewrite sum_map in M. rewrite M. ring. }
    simpl. rewrite Both. clear Both.
    assert (Sle : forall N, good (map snd N) -> mass (map snd N) = 1 -> sum N (fun e => fst (snd e) * is_sure (fst e)) <= 1).
    { intros N GN MN. rewrite <- MN. unfold mass. rewrite sum_map. apply sum_le. intros [l [x y]] I. simpl. assert (X : 0 <= x) by (apply (GN x y); now apply (in_map snd) in I).
      destruct l; simpl; [apply le_by with x; [ring | assumption] | apply le_by with (0 : F); [ring | apply le_refl] | apply le_by with x; [ring | assumption]]. }
    pose proof (Sle L G M) as T1. pose proof (Sle L' G' M') as T1'. fold T in T1. fold T' in T1'.
    assert (Sr' : (ofQ s2 : F) <= ofQ s + ofQ s' - ofQ s * ofQ s') by (rewrite <- ofQ_mul, <- ofQ_add, <- ofQ_sub; now apply ofQ_le).
    assert (S1 : (ofQ s : F) <= 1) by now apply le_trans with T.
    eapply le_trans; [exact Sr' |]. apply le_by with ((1 - ofQ s) * (T' - ofQ s') + (1 - T') * (T - ofQ s)); [ring |].
    apply add_ge0; apply le_mul; now apply sub_ge0.
  - intros x y I. unfold joined in I. apply in_flat_map in I. destruct I as ([l [x1 y1]] & I1 & I). apply in_map_iff in I. destruct I as ([m [x2 y2]] & Ee & I2).
    simpl in Ee. injection Ee as El _ <-. destruct l, m; simpl in El; try discriminate; try (rewrite (No _ _ I1); ring); rewrite (No' _ _ I2); ring. Qed.

(** delta is at least what every threshold shows, and what is sure (rule O6). *)
Definition from_on (t z : Z) : F := if Z.leb t z then 1 else 0.

Theorem shown_delta w v mu low p q sure t alpha : shown w v mu low p q sure -> 0 <= alpha ->
  value (fun z => w z * from_on t z) low p - alpha * value (fun z => v z * from_on t z) low q + z_ unit * ofQ sure <= z_ unit * gain alpha mu.
Proof.
  intros (L & G & M & D & V & S & _ & Z) A. destruct (V (from_on t)) as [V1 V2]; [intro z; unfold from_on; destruct (Z.leb t z); [apply one_ge0 | apply le_refl] |].
  pose proof (lt_le unit_gt0) as U.
  apply le_trans with (z_ unit * gain alpha (map snd L)); [| apply le_scale; [assumption | now apply D]].
  set (P := sum L (fun e => fst (snd e) * seen (from_on t) (fst e))) in *. set (R := sum L (fun e => snd (snd e) * seen (from_on t) (fst e))) in *.
  set (T := sum L (fun e => fst (snd e) * is_sure (fst e))) in *.
  assert (K : P + T - alpha * R <= gain alpha (map snd L)).
  { unfold P, T, R, gain. rewrite sum_map, <- sum_scale. apply le_by with (sum L (fun e => pos (fst (snd e) - alpha * snd (snd e)) - (fst (snd e) * seen (from_on t) (fst e) + fst (snd e) * is_sure (fst e) - alpha * (snd (snd e) * seen (from_on t) (fst e))))).
    - rewrite (sum_ext (f := fun e => pos (fst (snd e) - alpha * snd (snd e)) - (fst (snd e) * seen (from_on t) (fst e) + fst (snd e) * is_sure (fst e) - alpha * (snd (snd e) * seen (from_on t) (fst e))))
        (g := fun e => pos (fst (snd e) - alpha * snd (snd e)) + (- (1)) * (fst (snd e) * seen (from_on t) (fst e)) + (- (1)) * (fst (snd e) * is_sure (fst e)) + alpha * (snd (snd e) * seen (from_on t) (fst e)))) by (intros; ring).
      rewrite !sum_plus, !sum_scale. ring.
    - apply sum_ge0. intros [l [x y]] I. simpl. assert (G' : 0 <= x /\ 0 <= y) by (apply G; now apply (in_map snd) in I). destruct G' as [X Y].
      destruct l as [z | |]; simpl.
      + unfold from_on. destruct (Z.leb t z).
        * apply le_by with (pos (x - alpha * y) - (x - alpha * y)); [ring | apply sub_ge0, pos_ge].
        * apply le_by with (pos (x - alpha * y)); [ring | apply pos_ge0].
      + rewrite (Z x y I). apply le_by with (pos (x - alpha * 0) - (x - alpha * 0)); [ring | apply sub_ge0, pos_ge].
      + apply le_by with (pos (x - alpha * y)); [ring | apply pos_ge0]. }
  apply le_trans with (z_ unit * (P + T - alpha * R)); [| now apply le_scale].
  match goal with |- ?a - alpha * ?b + _ <= _ => apply le_by with ((z_ unit * P - a) + z_ unit * (T - ofQ sure) + alpha * (b - z_ unit * R)) end; [ring |].
  apply add_ge0; [apply add_ge0; [now apply sub_ge0 |] |]; [| apply le_mul; [assumption | now apply sub_ge0]]. apply le_mul; [assumption | now apply sub_ge0]. Qed.

(** An output whose loss lies between two places of the grid, split over both (rule O3). *)
Theorem chord_worth alpha p q i j u v u0 v0 : 0 <= alpha -> 0 <= u0 -> 0 <= v0 -> u0 + v0 = p ->
  u0 * E (- (grid * inject_Z i))%Q + v0 * E (- (grid * inject_Z j))%Q = q -> u0 <= u -> v0 <= v ->
  pos (p - alpha * q) <= u * worth grid alpha i + v * worth grid alpha j.
Proof.
  intros A U0 V0 Ep Eq Hu Hv. apply le_trans with (u0 * worth grid alpha i + v0 * worth grid alpha j).
  - unfold worth. rewrite <- !pos_scale by assumption. eapply le_trans; [| apply pos_add]. apply pos_mono. rewrite <- Ep, <- Eq. apply le_by with (0 : F); [ring | apply le_refl].
  - apply le_by with ((u - u0) * worth grid alpha i + (v - v0) * worth grid alpha j); [ring |]. apply add_ge0; apply le_mul; try (now apply sub_ge0); apply worth_ge0. Qed.
End Unit.
End Exponential.

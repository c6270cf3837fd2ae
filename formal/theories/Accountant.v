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

(** ** Measures on a grid, in integers of some unit *)
Notation z_ := (ofZ F).

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
  apply le_by with ((z_ y - z_ x) * h low); [ring |]. apply le_mul; [| apply H]. replace (z_ y - z_ x) with (z_ (y - x)); [apply ofZ_ge0; lia |].
  unfold Z.sub. rewrite ofZ_add, ofZ_opp. ring. Qed.

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

(** Windows: what is below moves up to the first entry, what is above to infinity. *)
Lemma window_worth h low front x mid rest : (forall y z, (y <= z)%Z -> h y <= h z) -> (forall z, h z <= 1) -> no_less front -> no_less rest ->
  value h low (front ++ (x :: mid) ++ rest) <= value h (low + Z.of_nat (length front))%Z ((x + total front)%Z :: mid) + z_ (total rest).
Proof.
  intros M One Nf Nr. rewrite !value_app. set (n := Z.of_nat (length front)). simpl. rewrite ofZ_add.
  assert (K : value h low front <= z_ (total front) * h (low + n)%Z).
  { unfold n. clear - M Nf. revert low; induction front as [| y front IH]; intro low; simpl.
    - change (ofZ F 0) with (0 : F). apply le_by with (0 : F); [ring | apply le_refl].
    - rewrite ofZ_add. replace (low + Z.pos (Pos.of_succ_nat (length front)))%Z with (low + 1 + Z.of_nat (length front))%Z by lia.
      apply le_trans with (z_ y * h (low + 1 + Z.of_nat (length front))%Z + z_ (total front) * h (low + 1 + Z.of_nat (length front))%Z); [| apply le_by with (0 : F); [ring | apply le_refl]].
      apply le_add2; [apply le_scale; [apply ofZ_ge0, Nf; now left | apply M; lia] | apply IH; intros z I; apply Nf; now right]. }
  assert (R : value h (low + n + Z.of_nat (length (x :: mid)))%Z rest <= z_ (total rest)).
  { apply le_trans with (z_ (total rest) * 1); [now apply value_total | apply le_by with (0 : F); [ring | apply le_refl]]. }
  set (v := value h (low + n + 1)%Z mid) in *. set (w := value h (low + n + Z.of_nat (length (x :: mid)))%Z rest) in *.
  match goal with |- ?l <= ?r => apply le_by with ((z_ (total front) * h (low + n)%Z - value h low front) + (z_ (total rest) - w)) end; [unfold w; simpl; ring |].
  apply add_ge0; now apply sub_ge0. Qed.

(** A grid of twice the step: an odd entry is split over its neighbours, of which the upper one gets the share 1 / (1 + e^-step) or more. *)
Lemma coarser_worth grid alpha z w v : (0 <= grid)%Q -> 0 <= alpha -> Z.odd z = true -> (0 <= v)%Z -> (v <= w)%Z ->
  z_ w <= z_ v * (1 + E (- grid)%Q) ->
  z_ w * worth grid alpha z <= z_ (w - v) * worth (2 * grid) alpha (z / 2) + z_ v * worth (2 * grid) alpha (z / 2 + 1).
Proof.
  intros G A Odd V W Share. set (k := (z / 2)%Z).
  assert (Z2 : (z = 2 * k + 1)%Z) by (unfold k; rewrite (Z.div_mod z 2) at 1; [rewrite Zmod_odd, Odd; reflexivity | lia]).
  set (y := E (- (grid * inject_Z z))%Q). set (e := E (- grid)%Q). set (i := E grid).
  assert (Ei : i * e = 1) by apply exp_inverse.
  assert (Lo : worth (2 * grid) alpha k = pos (1 - alpha * (y * i))).
  { unfold worth. do 3 f_equal. unfold y, i. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Z2, inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2%Q. change (inject_Z 1) with 1%Q. ring. }
  assert (Hi : worth (2 * grid) alpha (k + 1) = pos (1 - alpha * (y * e))).
  { unfold worth. do 3 f_equal. unfold y, e. rewrite <- (exp_add E_ok). apply (exp_eq E_ok). rewrite Z2, !inject_Z_plus, inject_Z_mult. change (inject_Z 2) with 2%Q. change (inject_Z 1) with 1%Q. ring. }
  rewrite Lo, Hi. change (worth grid alpha z) with (pos (1 - alpha * y)).
  set (s := 1 + e) in *. assert (S0 : 0 < s) by (apply add_gt0; [apply one_gt0 | apply exp_ge0]).
  assert (S1 : s <> 0) by now apply lt_neq.
  assert (Y0 : 0 <= y) by apply exp_ge0. assert (E0 : 0 <= e) by apply exp_ge0. assert (I0 : 0 <= i) by apply exp_ge0.
  assert (E1 : e <= 1) by (rewrite <- exp_0; apply exp_mono; lra).
  assert (I1 : 1 <= i) by (rewrite <- exp_0; apply exp_mono; lra).
  (* the mean of both ends *)
  assert (Mean : s * pos (1 - alpha * y) <= e * pos (1 - alpha * (y * i)) + pos (1 - alpha * (y * e))).
  { rewrite <- !pos_scale by (assumption || now apply lt_le). 
    replace (s * (1 - alpha * y)) with (e * (1 - alpha * (y * i)) + (1 - alpha * (y * e))).
    - apply pos_add.
    - unfold s. replace (e * (1 - alpha * (y * i))) with (e - alpha * y * (i * e)) by ring. rewrite Ei. ring. }
  assert (Up : pos (1 - alpha * (y * i)) <= pos (1 - alpha * (y * e))).
  { apply pos_mono. apply le_by with (alpha * (y * (i - e))); [ring |]. apply le_mul; [assumption |]. apply le_mul; [assumption |]. apply sub_ge0. now apply le_trans with 1. }
  assert (W0 : 0 <= z_ w) by (apply ofZ_ge0; lia).
  set (lo := pos (1 - alpha * (y * i))) in *. set (hi := pos (1 - alpha * (y * e))) in *. set (m := pos (1 - alpha * y)) in *.
  replace (z_ (w - v)) with (z_ w - z_ v) by (unfold Z.sub; rewrite ofZ_add, ofZ_opp; ring).
  apply le_by with ((z_ v * s - z_ w) * inv s * (hi - lo) + z_ w * inv s * (e * lo + hi - s * m)).
  - unfold s in *. field. exact S1.
  - apply add_ge0; apply le_mul; try (now apply sub_ge0); apply le_mul; try (now apply sub_ge0); try assumption; apply lt_le; now apply inv_gt0. Qed.
End Exponential.

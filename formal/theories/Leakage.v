(** * What traces leak (docs/theory/leakage.md)

    What leaks is the sum over traces of a function of masses that is subadditive and homogeneous: a measure. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Delta Ratios.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition rows_of := list (list (positive * Q)).  (* masses of worlds, or by guess what it gains beyond the first one, by state *)

Definition all_labels (C : chain) : list positive := nodup Pos.eq_dec (map (label C) (states C)).

(** All words of n labels. *)
Fixpoint words (C : chain) (n : nat) : list (list positive) :=
  match n with O => [[]] | S n' => flat_map (fun l => map (cons l) (words C n')) (all_labels C) end.

Definition is_word (w v : list positive) : bool := if list_eq_dec Pos.eq_dec w v then true else false.

Section Numbers.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

(** ** Sums *)
Fixpoint sum (l : list F) : F := match l with [] => 0 | x :: l' => x + sum l' end.

Lemma sum_app l m : sum (l ++ m) = sum l + sum m.
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_flat (A B : Type) (f : B -> F) (g : A -> list B) l :
  sum (map f (flat_map g l)) = sum (map (fun x => sum (map f (g x))) l).
Proof. induction l as [| x l IH]; simpl; [reflexivity |]. now rewrite map_app, sum_app, IH. Qed.

Lemma sum_le (A : Type) (f g : A -> F) l : (forall x, In x l -> f x <= g x) -> sum (map f l) <= sum (map g l).
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply le_add2; [apply H | apply IH]; auto. Qed.

Lemma sum_ext (A : Type) (f g : A -> F) l : (forall x, In x l -> f x = g x) -> sum (map f l) = sum (map g l).
Proof. intro H; apply le_antisym; apply sum_le; intros x I; rewrite (H x I); apply le_refl. Qed.

Lemma sum_zero (A : Type) (f : A -> F) l : (forall x, In x l -> f x = 0) -> sum (map f l) = 0.
Proof. induction l as [| x l IH]; simpl; intro H; [reflexivity |]. rewrite H, IH by auto. ring. Qed.

Lemma sum_eval (A : Type) r (f : A -> positive -> F) l :
  sum (map (fun x => eval r (f x)) l) = eval r (fun s => sum (map (fun x => f x s) l)).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH, eval_add; reflexivity].
  symmetry. induction r as [| [s q] r IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.

Lemma sum_ge0 (A : Type) (f : A -> F) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum (map f l).
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply add_ge0; auto. Qed.

Lemma sum_add (A : Type) (f g : A -> F) l : sum (map (fun x => f x + g x) l) = sum (map f l) + sum (map g l).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_swap (A B : Type) (f : A -> B -> F) l m :
  sum (map (fun x => sum (map (f x) m)) l) = sum (map (fun y => sum (map (fun x => f x y) l)) m).
Proof. induction l as [| x l IH]; simpl; [symmetry; now apply sum_zero | now rewrite IH, <- sum_add]. Qed.

(** One label of a list without repetitions. *)
Lemma sum_once l (a : positive) (x : F) : NoDup l -> In a l -> sum (map (fun b => if Pos.eqb a b then x else 0) l) = x.
Proof.
  induction l as [| b l IH]; simpl; intros N I; [easy |]. inversion N as [| ? ? N1 N2]; subst.
  destruct (Pos.eqb_spec a b) as [-> | D].
  - rewrite sum_zero; [ring |]. intros c Ic. destruct (Pos.eqb_spec b c) as [-> |]; [easy | reflexivity].
  - destruct I as [E | I]; [congruence |]. rewrite IH by assumption. ring.
Qed.

(** ** Numbers and infinity, which is None *)
Definition plus (x y : option F) : option F := match x, y with Some a, Some b => Some (a + b) | _, _ => None end.
Definition times (c : F) (x : option F) : option F := option_map (mul c) x.
Definition leq (x y : option F) : Prop := match y, x with None, _ => True | Some b, Some a => a <= b | Some _, None => False end.
Fixpoint esum (l : list (option F)) : option F := match l with [] => Some 0 | x :: l' => plus x (esum l') end.

Lemma leq_refl x : leq x x.
Proof. destruct x; simpl; [apply le_refl | exact I]. Qed.

Lemma leq_trans x y z : leq x y -> leq y z -> leq x z.
Proof. destruct x, y, z; simpl; try easy. apply le_trans. Qed.

Lemma plus_leq x y z t : leq x y -> leq z t -> leq (plus x z) (plus y t).
Proof. destruct x, y, z, t; simpl; try easy. apply le_add2. Qed.

Lemma plus_comm x y : plus x y = plus y x.
Proof. destruct x, y; simpl; try reflexivity. f_equal; ring. Qed.

Lemma plus_assoc x y z : plus x (plus y z) = plus (plus x y) z.
Proof. destruct x, y, z; simpl; try reflexivity. f_equal; ring. Qed.

Lemma plus_0l x : plus (Some 0) x = x.
Proof. destruct x; simpl; [f_equal; ring | reflexivity]. Qed.

Lemma plus_0r x : plus x (Some 0) = x.
Proof. rewrite plus_comm. apply plus_0l. Qed.

Lemma times_leq c x y : 0 <= c -> leq x y -> leq (times c x) (times c y).
Proof. destruct x, y; simpl; try easy. intros; now apply le_scale. Qed.

Lemma times_plus c x y : times c (plus x y) = plus (times c x) (times c y).
Proof. destruct x, y; simpl; try reflexivity. f_equal; ring. Qed.

Lemma esum_app l m : esum (l ++ m) = plus (esum l) (esum m).
Proof. induction l as [| x l IH]; simpl; [symmetry; apply plus_0l | now rewrite IH, plus_assoc]. Qed.

Lemma esum_flat (A B : Type) (f : B -> option F) (g : A -> list B) l :
  esum (map f (flat_map g l)) = esum (map (fun x => esum (map f (g x))) l).
Proof. induction l as [| x l IH]; simpl; [reflexivity |]. now rewrite map_app, esum_app, IH. Qed.

Lemma esum_le (A : Type) (f g : A -> option F) l : (forall x, In x l -> leq (f x) (g x)) -> leq (esum (map f l)) (esum (map g l)).
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply plus_leq; [apply H | apply IH]; auto. Qed.

Lemma esum_ext (A : Type) (f g : A -> option F) l : (forall x, In x l -> f x = g x) -> esum (map f l) = esum (map g l).
Proof. intro H. f_equal. now apply map_ext_in. Qed.

Lemma esum_zero (A : Type) (f : A -> option F) l : (forall x, In x l -> f x = Some 0) -> esum (map f l) = Some 0.
Proof. induction l as [| x l IH]; simpl; intro H; [reflexivity |]. rewrite (H x), IH by auto. apply plus_0l. Qed.

Lemma esum_plus (A : Type) (f g : A -> option F) l :
  esum (map (fun x => plus (f x) (g x)) l) = plus (esum (map f l)) (esum (map g l)).
Proof. induction l as [| x l IH]; simpl; [f_equal; ring |]. rewrite IH, !plus_assoc. f_equal.
  now rewrite <- !plus_assoc, (plus_comm (g x)). Qed.

Lemma esum_times (A : Type) c (f : A -> option F) l : esum (map (fun x => times c (f x)) l) = times c (esum (map f l)).
Proof. induction l as [| x l IH]; simpl; [f_equal; ring | now rewrite IH, times_plus]. Qed.

Lemma esum_some (A : Type) (f : A -> F) l : esum (map (fun x => Some (f x)) l) = Some (sum (map f l)).
Proof. induction l as [| x l IH]; simpl; [reflexivity | now rewrite IH]. Qed.

Lemma esum_swap (A B : Type) (f : A -> B -> option F) l m :
  esum (map (fun x => esum (map (f x) m)) l) = esum (map (fun y => esum (map (fun x => f x y) l)) m).
Proof. induction l as [| x l IH]; simpl; [symmetry; now apply esum_zero | now rewrite IH, <- esum_plus]. Qed.

Lemma esum_once l (a : positive) x : NoDup l -> In a l -> esum (map (fun b => if Pos.eqb a b then x else Some 0) l) = x.
Proof.
  induction l as [| b l IH]; simpl; intros N I; [easy |]. inversion N as [| ? ? N1 N2]; subst.
  destruct (Pos.eqb_spec a b) as [-> | D].
  - rewrite esum_zero; [apply plus_0r |]. intros c Ic. destruct (Pos.eqb_spec b c) as [-> |]; [easy | reflexivity].
  - destruct I as [E | I]; [congruence |]. now rewrite IH, plus_0l by assumption.
Qed.

(** ** Measures *)
Record measure := {
  phi : list F -> option F;
  signed : bool;  (* whether masses may be negative *)
  together : bool;  (* whether only one factor for all rows will do *)
  needed : list nat;  (* the rows without which nothing counts *)
  scale_factor : list Q -> F;  (* where rows are scaled *)
  scale_shift : list Q -> F
}.

Definition in_domain (mu : measure) (l : list F) : Prop := signed mu = true \/ forall x, In x l -> 0 <= x.
Definition scales_ok (mu : measure) (xs : list Q) : Prop :=
  (forall x, In x xs -> (0 < x)%Q) /\ (together mu = true -> forall x y, In x xs -> In y xs -> x = y).

Record lawful (mu : measure) : Prop := {
  phi_zero : forall l, (forall x, In x l -> x = 0) -> phi mu l = Some 0;
  phi_needed : forall l k, In k (needed mu) -> nth k l 0 = 0 -> phi mu l = Some 0;
  phi_add : forall (A : Type) (L : list A) f g, in_domain mu (map f L) -> in_domain mu (map g L) ->
    leq (phi mu (map (fun a => f a + g a) L)) (plus (phi mu (map f L)) (phi mu (map g L)));
  phi_mul : forall c l, 0 < c -> in_domain mu l -> phi mu (map (mul c) l) = times c (phi mu l);
  phi_along : forall (A : Type) (L : list (Q * A)) f, scales_ok mu (map fst L) -> in_domain mu (map (fun p => f (snd p)) L) ->
    phi mu (map (fun p => ofQ (fst p) * f (snd p)) L)
    = plus (times (scale_factor mu (map fst L)) (phi mu (map (fun p => f (snd p)) L)))
           (Some (scale_shift mu (map fst L) * hd 0 (map (fun p => f (snd p)) L)));
  factor_gt0 : forall xs, scales_ok mu xs -> 0 < scale_factor mu xs
}.

Lemma phi_mul_some mu c l v : lawful mu -> 0 <= c -> in_domain mu l -> phi mu l = Some v -> phi mu (map (mul c) l) = Some (c * v).
Proof.
  intros H C D E. destruct (eq_dec c 0) as [-> | N].
  - rewrite (phi_zero H); [f_equal; ring |]. intros x I. apply in_map_iff in I; destruct I as (y & <- & _). ring.
  - rewrite (phi_mul H), E; [reflexivity | | assumption]. intro L. apply N. now apply le_antisym.
Qed.
End Numbers.

Arguments phi {F}.
Arguments needed {F}.
Arguments signed {F}.
Arguments together {F}.
Arguments scale_factor {F}.
Arguments scale_shift {F}.

Section Leakage.
Variable F : OrderedField.
Add Field F_field' : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.
Variable mu : measure F.
Hypothesis mu_ok : lawful mu.

Definition masses (M : rows_of) (g : positive -> F) : list F := map (fun r => eval r g) M.
Definition known (M : rows_of) : Prop := forall r, In r M -> inside C r.
Definition fine (M : rows_of) : Prop :=
  known M /\ (signed mu = true \/ forall r s q, In r M -> In (s, q) r -> (0 <= q)%Q).

Lemma masses_ext M g h : known M -> (forall s, In s (states C) -> g s = h s) -> masses M g = masses M h.
Proof. intros K H. apply map_ext_in. intros r I. apply eval_ext. intros s q Is. apply H. now apply (K r I s q). Qed.

Lemma in_domain_of M g : fine M -> (forall s, In s (states C) -> 0 <= g s) -> in_domain mu (masses M g).
Proof. intros [K [S | P]] H; [now left | right]. intros x I. apply in_map_iff in I; destruct I as (r & <- & I).
  apply eval_ge0; intros s q Is; [now apply (P r s q) | apply H; now apply (K r I s q)]. Qed.

Lemma phi_more M g h : fine M -> (forall s, In s (states C) -> 0 <= g s) -> (forall s, In s (states C) -> 0 <= h s) ->
  leq (phi mu (masses M (fun s => g s + h s))) (plus (phi mu (masses M g)) (phi mu (masses M h))).
Proof. intros K G H. unfold masses. rewrite (map_ext _ (fun r => eval r g + eval r h)) by (intro; apply eval_add).
  apply (phi_add mu_ok); now apply in_domain_of. Qed.

Lemma phi_sum (A : Type) M (f : A -> positive -> F) l : fine M -> (forall x s, In x l -> In s (states C) -> 0 <= f x s) ->
  leq (phi mu (masses M (fun s => sum (map (fun x => f x s) l)))) (esum (map (fun x => phi mu (masses M (f x))) l)).
Proof.
  intro K; induction l as [| x l IH]; intro P; simpl.
  - rewrite (phi_zero mu_ok); [apply le_refl |]. intros y I. apply in_map_iff in I; destruct I as (r & <- & _). rewrite eval_const; ring.
  - eapply leq_trans; [apply (phi_more (g := f x) (h := fun s => sum (map (fun x => f x s) l)) K) |].
    + intros s Hs. apply P; [now left | assumption].
    + intros s Hs. apply sum_ge0. intros y Iy. apply P; [now right | assumption].
    + apply plus_leq; [apply leq_refl | apply IH; intros; apply P; auto; now right].
Qed.

(** ** What follows a state *)
Fixpoint after (w : list positive) (s : positive) : F :=
  match w with [] => 1 | l :: w' => eval (row C s) (fun t => if Pos.eqb (label C t) l then after w' t else 0) end.

(** V_n of docs/theory/leakage.md: the sum over the next n labels. *)
Definition value (n : nat) (M : rows_of) : option F := esum (map (fun w => phi mu (masses M (after w))) (words C n)).

(** The rows after a step with a label. *)
Definition step (l : positive) (M : rows_of) : rows_of := map (fun r => of_label C l (image C r)) M.

Lemma eval_of_label l r (g : positive -> F) : eval (of_label C l r) g = eval r (fun t => if Pos.eqb (label C t) l then g t else 0).
Proof. induction r as [| [s q] r IH]; simpl; [reflexivity |]. unfold of_label in *; simpl.
  destruct (Pos.eqb (label C s) l); simpl; rewrite IH; ring. Qed.

Lemma masses_step l M w : masses (step l M) (after w) = masses M (after (l :: w)).
Proof. unfold masses, step. rewrite map_map. apply map_ext. intro r. now rewrite eval_of_label, eval_image. Qed.

Lemma value_step n M : value (S n) M = esum (map (fun l => value n (step l M)) (all_labels C)).
Proof. unfold value; simpl. rewrite esum_flat. apply esum_ext. intros l _. rewrite map_map.
  apply esum_ext. intros w _. now rewrite masses_step. Qed.

Lemma value_0 M : value 0 M = phi mu (masses M (fun _ => 1)).
Proof. unfold value; simpl. apply plus_0r. Qed.

Lemma label_once s : In s (states C) -> NoDup (all_labels C) /\ In (label C s) (all_labels C).
Proof. intro H; split; [apply NoDup_nodup | apply nodup_In; now apply in_map]. Qed.

Lemma image_inside r : inside C r -> inside C (image C r).
Proof. intros H i q I. unfold image in I. apply in_flat_map in I; destruct I as ([s p] & Is & I). simpl in I.
  apply in_map_iff in I; destruct I as ([t x] & E & I). injection E as <- _.
  destruct (C_ok (H s p Is)) as [K _]. now apply (K t x). Qed.

Lemma image_ge0 r : inside C r -> (forall s q, In (s, q) r -> (0 <= q)%Q) -> forall s q, In (s, q) (image C r) -> (0 <= q)%Q.
Proof. intros H P i q I. unfold image in I. apply in_flat_map in I; destruct I as ([s p] & Is & I). simpl in I.
  apply in_map_iff in I; destruct I as ([t x] & E & I). injection E as _ <-. simpl. rewrite Qred_correct.
  destruct (C_ok (H s p Is)) as [K _]. apply Qmult_le_0_compat; [now apply (P s p) | now apply (K t x)]. Qed.

Lemma of_label_known l M : known M -> known (map (of_label C l) M).
Proof. intros H r I s q Is. apply in_map_iff in I; destruct I as (r' & <- & I). apply filter_In in Is. now apply (H r' I s q). Qed.

Lemma of_label_fine l M : fine M -> fine (map (of_label C l) M).
Proof. intros [K P]. split; [now apply of_label_known |]. destruct P as [P | P]; [now left | right].
  intros r s q I Is. apply in_map_iff in I; destruct I as (r' & <- & I). apply filter_In in Is. now apply (P r' s q). Qed.

Lemma step_fine l M : fine M -> fine (step l M).
Proof. intros [K P]. unfold step. rewrite <- map_map. apply of_label_fine. split.
  - intros r I. apply in_map_iff in I; destruct I as (r' & <- & I). apply image_inside. now apply K.
  - destruct P as [P | P]; [now left | right]. intros r s q I. apply in_map_iff in I; destruct I as (r' & <- & I).
    apply image_ge0; [now apply K | intros; now apply (P r' s0 q0)]. Qed.

Lemma after_sum n : forall s, In s (states C) -> sum (map (fun w => after w s) (words C n)) = 1.
Proof.
  induction n as [| n IH]; intros s Hs; simpl; [ring |]. rewrite sum_flat.
  rewrite (sum_ext (g := fun l => eval (row C s) (fun t => if Pos.eqb (label C t) l then 1 else 0))).
  - rewrite sum_eval. transitivity (eval (row C s) (fun _ => 1 : F)); [| now apply eval_row_const].
    apply (eval_row_ext C_ok Hs). intros t Ht. destruct (label_once Ht). now apply sum_once.
  - intros l _. rewrite map_map; simpl. rewrite sum_eval. apply (eval_row_ext C_ok Hs). intros t Ht.
    destruct (Pos.eqb (label C t) l); [now apply IH | now apply sum_zero].
Qed.

Lemma after_ge0 w : forall s, In s (states C) -> 0 <= after w s.
Proof. induction w as [| l w IH]; intros s Hs; simpl; [apply one_ge0 |].
  apply le_trans with (eval (row C s) (fun _ => 0 : F)); [rewrite (eval_row_const C_ok 0 Hs); apply le_refl |].
  apply (eval_row_le C_ok Hs). intros t Ht. destruct (Pos.eqb _ _); [now apply IH | apply le_refl]. Qed.

(** A word is an event. *)
Lemma pr_nothing n s : In s (states C) -> pr C n s (fun _ => false) = (0 : F).
Proof. revert s; induction n as [| n IH]; intros s Hs; simpl; [reflexivity |].
  rewrite (eval_row_ext C_ok Hs (g := fun _ => 0)); [now apply eval_row_const | auto]. Qed.

Lemma is_word_cons l w v : is_word (l :: w) (l :: v) = is_word w v.
Proof. unfold is_word. destruct (list_eq_dec Pos.eq_dec (l :: w) (l :: v)), (list_eq_dec Pos.eq_dec w v); congruence. Qed.

Lemma is_word_other l a w v : a <> l -> is_word (l :: w) (a :: v) = false.
Proof. intro N. unfold is_word. destruct (list_eq_dec Pos.eq_dec (l :: w) (a :: v)); congruence. Qed.

Lemma pr_word n : forall l w s, length w = n -> In s (states C) ->
  pr C (S n) s (is_word (l :: w)) = if Pos.eqb (label C s) l then after w s else 0.
Proof.
  induction n as [| n IH]; intros l w s Len Hs.
  - destruct w; [| easy]. simpl. destruct (Pos.eqb_spec (label C s) l) as [-> | N].
    + rewrite is_word_cons. simpl. now apply eval_row_const.
    + rewrite is_word_other by assumption. now apply eval_row_const.
  - destruct w as [| l' w]; [easy |]. injection Len as Len.
    change (eval (row C s) (fun t => pr C (S n) t (fun v => is_word (l :: l' :: w) (label C s :: v))) = (if Pos.eqb (label C s) l then after (l' :: w) s else 0)).
    destruct (Pos.eqb_spec (label C s) l) as [-> | N].
    + simpl after. apply (eval_row_ext C_ok Hs). intros t Ht. rewrite <- (IH l' w t Len Ht). apply pr_ext. intro v. apply is_word_cons.
    + rewrite (eval_row_ext C_ok Hs (g := fun _ => 0)); [now apply eval_row_const |].
      intros t Ht. rewrite <- (pr_nothing (S n) Ht). apply pr_ext. intro v. now apply is_word_other.
Qed.

Definition ends_in (w v : list positive) : bool := match v with _ :: v' => is_word w v' | [] => false end.

Lemma pr_ends w s : In s (states C) -> pr C (S (length w)) s (ends_in w) = after w s.
Proof. intro Hs.
  transitivity (pr C (S (length w)) s (is_word (label C s :: w)) : F).
  - simpl. apply (eval_row_ext C_ok Hs). intros t _. apply pr_ext. intro v. simpl. now rewrite is_word_cons.
  - rewrite pr_word by auto. now rewrite Pos.eqb_refl. Qed.

Lemma words_length n : forall w, In w (words C n) -> length w = n.
Proof. induction n as [| n IH]; simpl; intros w I; [destruct I as [<- | []]; reflexivity |].
  apply in_flat_map in I; destruct I as (l & _ & I). apply in_map_iff in I; destruct I as (w' & <- & I). simpl; now rewrite (IH w' I). Qed.

Lemma in_domain_after M w : fine M -> in_domain mu (masses M (after w)).
Proof. intro K. apply in_domain_of; [assumption | intros; now apply after_ge0]. Qed.

(** Seeing more tells more. *)
Lemma value_more n : forall M, fine M -> leq (value n M) (value (S n) M).
Proof.
  induction n as [| n IH]; intros M H.
  - rewrite value_0. unfold value; simpl. rewrite esum_flat; simpl.
    rewrite (@masses_ext M (fun _ => 1) (fun s => sum (map (fun l => after [l] s) (all_labels C)))).
    + eapply leq_trans; [apply (phi_sum (f := fun l => after [l])); [assumption | intros; now apply after_ge0] |].
      apply esum_le. intros l _. simpl. rewrite plus_0r. apply leq_refl.
    + apply H.
    + intros s Hs. simpl. transitivity (eval (row C s) (fun _ => 1 : F)); [symmetry; now apply eval_row_const |].
      rewrite sum_eval. apply (eval_row_ext C_ok Hs). intros t Ht. destruct (label_once Ht). symmetry; now apply sum_once.
  - rewrite !value_step. apply esum_le. intros l _. apply (IH (step l M)). now apply step_fine.
Qed.

Lemma value_mono m n M : fine M -> (m <= n)%nat -> leq (value m M) (value n M).
Proof. intros H; induction 1; [apply leq_refl |]. apply leq_trans with (1 := IHle). now apply value_more. Qed.

Lemma value_same M N n : (forall g, masses M g = masses N g) -> value n M = value n N.
Proof. intro H. apply esum_ext. intros w _. now rewrite H. Qed.

(** The masses of all words are those of the row. *)
Lemma sums_to_total r n : inside C r -> sum (map (fun w => eval r (after w)) (words C n)) = ofQ (total r).
Proof. intro H. rewrite sum_eval. rewrite (eval_ext (g := fun _ => 1)); [rewrite eval_const; ring |].
  intros s q I. apply (after_sum n (H s q I)). Qed.

(** ** Rows that are those of another node, each times a factor *)
Definition scaled (xs : list Q) (M N : rows_of) : Prop := length xs = length N /\
  forall g, masses M g = map (fun p => ofQ (fst p) * eval (snd p) g) (combine xs N).

Definition first_row (N : rows_of) : list (positive * Q) := hd [] N.

Lemma map_snd_combine (A B D : Type) (f : B -> D) (l : list A) m : length l = length m -> map (fun p => f (snd p)) (combine l m) = map f m.
Proof. revert m; induction l as [| x l IH]; intros [| y m] H; simpl in *; try easy. f_equal. apply IH. congruence. Qed.

Lemma map_fst_combine (A B : Type) (l : list A) (m : list B) : length l = length m -> map fst (combine l m) = l.
Proof. revert m; induction l as [| x l IH]; intros [| y m] H; simpl in *; try easy. f_equal. apply IH. congruence. Qed.

Lemma along_masses xs M N g : scaled xs M N -> scales_ok mu xs -> in_domain mu (masses N g) ->
  phi mu (masses M g) = plus (times (scale_factor mu xs) (phi mu (masses N g))) (Some (scale_shift mu xs * eval (first_row N) g)).
Proof.
  intros [Len H] X D. rewrite H.
  assert (E : map (fun p : Q * list (positive * Q) => eval (snd p) g) (combine xs N) = masses N g).
  { apply (map_snd_combine (fun r => eval r g)); assumption. }
  assert (E1 : map fst (combine xs N) = xs) by now apply map_fst_combine.
  pose proof (phi_along mu_ok (L := combine xs N) (f := fun r => eval r g)) as A. cbv beta in A. rewrite E, E1 in A.
  rewrite A by assumption. destruct N as [| r N]; reflexivity.
Qed.

Lemma scaled_value xs M N n : scaled xs M N -> scales_ok mu xs -> fine N ->
  value n M = plus (times (scale_factor mu xs) (value n N)) (Some (scale_shift mu xs * ofQ (total (first_row N)))).
Proof.
  intros H X K. unfold value.
  assert (I : inside C (first_row N)) by (destruct K as [K _]; destruct N as [| r N]; [easy | apply K; now left]).
  rewrite (esum_ext (g := fun w => plus (times (scale_factor mu xs) (phi mu (masses N (after w)))) (Some (scale_shift mu xs * eval (first_row N) (after w))))).
  2: { intros w _. apply along_masses; auto. now apply in_domain_after. }
  rewrite esum_plus, esum_times, esum_some. do 2 f_equal.
  rewrite <- (sums_to_total n I). generalize (words C n). induction l as [| w l IH]; simpl; [| rewrite IH]; ring.
Qed.

Lemma nothing_value M n : (forall w, In w (words C n) -> phi mu (masses M (after w)) = Some 0) -> value n M = Some 0.
Proof. intro H. now apply esum_zero. Qed.

(** ** Bounds by columns, and by chords *)
Definition rows_at (width : nat) (columns : list (positive * list Q)) : rows_of :=
  map (fun k => map (fun e => (fst e, nth k (snd e) 0%Q)) columns) (seq 0 width).

Lemma nth_all (l : list Q) (c : F) : map (fun k => ofQ (nth k l 0%Q) * c) (seq 0 (length l)) = map (mul c) (map (fun q => ofQ q) l).
Proof. induction l as [| q l IH]; simpl; [reflexivity |]. f_equal; [ring |]. rewrite <- seq_shift, map_map. exact IH. Qed.

(** A function is at most the sum of those of the columns. *)
Theorem columns_bound width columns (u : positive * list Q -> Q) g :
  (forall s, In s (states C) -> 0 <= g s) ->
  (forall c, In c columns -> In (fst c) (states C) /\ length (snd c) = width /\
    (signed mu = true \/ forall q, In q (snd c) -> (0 <= q)%Q) /\ leq (phi mu (map (fun q => ofQ q) (snd c))) (Some (ofQ (u c)))) ->
  leq (phi mu (masses (rows_at width columns) g)) (Some (eval (map (fun c => (fst c, u c)) columns) g)).
Proof.
  intros G. induction columns as [| c l IH]; intro H.
  - rewrite (phi_zero mu_ok); [apply le_refl |]. intros x I. unfold masses, rows_at in I. rewrite map_map in I.
    apply in_map_iff in I; destruct I as (k & <- & _). reflexivity.
  - destruct (H c (or_introl eq_refl)) as (Hs & Len & P & B).
    assert (Dc : in_domain mu (map (fun q => ofQ q : F) (snd c))).
    { destruct P as [P | P]; [now left | right]. intros x I. apply in_map_iff in I; destruct I as (q & <- & I). now apply ofQ_ge0, P. }
    assert (Scale : map (fun k => ofQ (nth k (snd c) 0%Q) * g (fst c)) (seq 0 width) = map (mul (g (fst c))) (map (fun q => ofQ q) (snd c))).
    { rewrite <- Len. apply nth_all. }
    assert (Split : masses (rows_at width (c :: l)) g
      = map (fun k => ofQ (nth k (snd c) 0%Q) * g (fst c) + eval (map (fun e => (fst e, nth k (snd e) 0%Q)) l) g) (seq 0 width)).
    { unfold masses, rows_at. rewrite map_map. reflexivity. }
    rewrite Split. eapply leq_trans; [apply (phi_add mu_ok) |].
    + rewrite Scale. destruct Dc as [D | D]; [now left | right]. intros x I. apply in_map_iff in I; destruct I as (y & <- & I).
      apply le_mul; [now apply G | now apply D].
    + destruct P as [P | _]; [now left |]. destruct (signed mu) eqn:S; [now left | right].
      intros x I. apply in_map_iff in I; destruct I as (k & <- & _).
      apply eval_ge0; intros s q I; apply in_map_iff in I; destruct I as (e & E & I); injection E as <- <-;
        destruct (H e (or_intror I)) as (He & _ & Pe & _); [| now apply G].
      destruct Pe as [Pe | Pe]; [congruence |]. destruct (Nat.lt_ge_cases k (length (snd e))) as [L | L].
      * now apply Pe, nth_In.
      * rewrite nth_overflow by assumption. apply Qle_refl.
    + replace (Some (eval (map (fun c => (fst c, u c)) (c :: l)) g)) with
        (plus (Some (g (fst c) * ofQ (u c))) (Some (eval (map (fun c => (fst c, u c)) l) g))) by (simpl; f_equal; ring).
      apply plus_leq.
      * rewrite Scale. destruct (phi mu (map (fun q => ofQ q) (snd c))) as [v |] eqn:V; [| easy].
        rewrite (phi_mul_some mu_ok (G _ Hs) Dc V). apply le_scale; [now apply G | exact B].
      * replace (map (fun k => eval (map (fun e => (fst e, nth k (snd e) 0%Q)) l) g) (seq 0 width)) with (masses (rows_at width l) g)
          by (unfold masses, rows_at; now rewrite map_map).
        apply IH. intros c' I; apply H; now right.
Qed.

(** Between two ratios of its masses it is below its chord. *)
Theorem chord_bound (most least : Q) (x y u l : F) : (least < most)%Q -> (0 <= least)%Q -> ofQ least * y <= x -> x <= ofQ most * y ->
  leq (phi mu [ofQ most; 1]) (Some u) -> leq (phi mu [ofQ least; 1]) (Some l) ->
  leq (phi mu [x; y]) (Some ((x - ofQ least * y) * inv (ofQ (most - least)) * u + (ofQ most * y - x) * inv (ofQ (most - least)) * l)).
Proof.
  intros LM L0 X Y U L. assert (W : 0 < (ofQ (most - least) : F)) by (apply ofQ_gt0; now apply Qlt_minus_iff in LM).
  assert (M0 : (0 <= most)%Q) by (apply Qle_trans with least; [assumption | now apply Qlt_le_weak]).
  set (a := (x - ofQ least * y) * inv (ofQ (most - least))). set (c := (ofQ most * y - x) * inv (ofQ (most - least))).
  assert (A : 0 <= a) by (apply le_mul; [now apply sub_ge0 | now apply lt_le, inv_gt0]).
  assert (B : 0 <= c) by (apply le_mul; [now apply sub_ge0 | now apply lt_le, inv_gt0]).
  assert (Dom : forall q, (0 <= q)%Q -> forall k, 0 <= k -> in_domain mu [k * ofQ q; k * 1] /\ in_domain mu [ofQ q; 1 : F]).
  { intros q Q0 k K. split; right; intros z [<- | [<- | []]]; try apply le_mul; auto using one_ge0, ofQ_ge0. }
  assert (E : [x; y] = map (fun p : F * F => a * fst p + c * snd p) [(ofQ most, ofQ least); (1, 1)]).
  { unfold a, c. rewrite ofQ_sub. simpl. f_equal; [| f_equal]; field; rewrite <- ofQ_sub; now apply lt_neq. }
  rewrite E. eapply leq_trans; [apply (phi_add mu_ok) |].
  - exact (proj1 (Dom most M0 a A)).
  - exact (proj1 (Dom least L0 c B)).
  - change (Some (a * u + c * l)) with (plus (Some (a * u)) (Some (c * l))).
    apply plus_leq.
    + destruct (phi mu [ofQ most; 1]) as [v |] eqn:V; [| easy].
      change (map (fun p : F * F => a * fst p) [(ofQ most, ofQ least); (1, 1)]) with (map (mul a) [ofQ most; 1]).
      rewrite (phi_mul_some mu_ok A (proj2 (Dom most M0 a A)) V). now apply le_scale.
    + destruct (phi mu [ofQ least; 1]) as [v |] eqn:V; [| easy].
      change (map (fun p : F * F => c * snd p) [(ofQ most, ofQ least); (1, 1)]) with (map (mul c) [ofQ least; 1]).
      rewrite (phi_mul_some mu_ok B (proj2 (Dom least L0 c B)) V). now apply le_scale.
Qed.
End Leakage.

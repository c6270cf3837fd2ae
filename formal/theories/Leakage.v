(** * What traces leak, for measures that are the best of several guesses (docs/theory/leakage.md)

    tv, bayes, min-entropy and g: what is summed over traces is a largest one of finitely many linear functions. *)

From Coq Require Import ZArith QArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Combination Chain Delta Ratios.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Definition rows_of := list (list (positive * Q)).  (* by guess what it gains beyond the first one, by state *)

Definition all_labels (C : chain) : list positive := nodup Pos.eq_dec (map (label C) (states C)).

(** All words of n labels. *)
Fixpoint words (C : chain) (n : nat) : list (list positive) :=
  match n with O => [[]] | S n' => flat_map (fun l => map (cons l) (words C n')) (all_labels C) end.

Definition is_word (w v : list positive) : bool := if list_eq_dec Pos.eq_dec w v then true else false.

Section Leakage.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable C : chain.
Hypothesis C_ok : chain_ok C.

Fixpoint sum (l : list F) : F := match l with [] => 0 | x :: l' => x + sum l' end.

(** The largest of some numbers and 0. *)
Definition larger (x y : F) : F := if le_dec x y then y else x.
Definition best (l : list F) : F := fold_right larger 0 l.

(** ** Definition: the sum over all words of n labels of what the best guess gains

    [worlds] are the guesses, each with a weight for every state. *)
Definition leaked (first : list (positive * Q)) (others : rows_of) (n : nat) : F :=
  sum (map (fun w => let at_word r := eval r (fun s => pr C n s (is_word w)) in
                     fold_right larger (at_word first) (map at_word others)) (words C n)).

(** ** Sums *)
Lemma sum_app l m : sum (l ++ m) = sum l + sum m.
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_flat (A B : Type) (f : B -> F) (g : A -> list B) l :
  sum (map f (flat_map g l)) = sum (map (fun x => sum (map f (g x))) l).
Proof. induction l as [| x l IH]; simpl; [reflexivity |]. now rewrite map_app, sum_app, IH. Qed.

Lemma sum_le (A : Type) (f g : A -> F) l : (forall x, In x l -> f x <= g x) -> sum (map f l) <= sum (map g l).
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply le_add2; [apply H | apply IH]; auto. Qed.

Lemma sum_ext (A : Type) (f g : A -> F) l : (forall x, In x l -> f x = g x) -> sum (map f l) = sum (map g l).
Proof. intro H; apply le_antisym; apply sum_le; intros x I; rewrite (H x I); apply le_refl. Qed.

Lemma sum_ge0 (A : Type) (f : A -> F) l : (forall x, In x l -> 0 <= f x) -> 0 <= sum (map f l).
Proof. induction l as [| x l IH]; simpl; intro H; [apply le_refl |]. apply add_ge0; auto. Qed.

Lemma sum_add (A : Type) (f g : A -> F) l : sum (map (fun x => f x + g x) l) = sum (map f l) + sum (map g l).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_mul (A : Type) (c : F) (f : A -> F) l : sum (map (fun x => c * f x) l) = c * sum (map f l).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH]; ring. Qed.

Lemma sum_eval (A : Type) r (f : A -> positive -> F) l :
  sum (map (fun x => eval r (f x)) l) = eval r (fun s => sum (map (fun x => f x s) l)).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH, eval_add; reflexivity].
  symmetry. induction r as [| [s q] r IH]; simpl; [reflexivity | rewrite IH; ring]. Qed.

Lemma sum_swap (A B : Type) (f : A -> B -> F) l m :
  sum (map (fun x => sum (map (f x) m)) l) = sum (map (fun y => sum (map (fun x => f x y) l)) m).
Proof. induction l as [| x l IH]; simpl; [| rewrite IH, <- sum_add; reflexivity].
  induction m as [| y m IH]; simpl; [reflexivity | rewrite <- IH; ring]. Qed.

(** One label of a list without repetitions. *)
Lemma sum_once l (a : positive) (x : F) : NoDup l -> In a l -> sum (map (fun b => if Pos.eqb a b then x else 0) l) = x.
Proof.
  induction l as [| b l IH]; simpl; intros N I; [easy |]. inversion N as [| ? ? N1 N2]; subst.
  destruct (Pos.eqb_spec a b) as [-> | D].
  - rewrite (sum_ext (g := fun _ => 0 * 0)).
    + rewrite sum_mul; ring.
    + intros c Ic. destruct (Pos.eqb_spec b c) as [-> |]; [easy | ring].
  - destruct I as [E | I]; [congruence |]. rewrite IH by assumption. ring.
Qed.

(** ** The best guess *)
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

(** [gained M g]: what the best guess gains, where states are worth [g]. *)
Definition gained (M : rows_of) (g : positive -> F) : F := best (map (fun r => eval r g) M).

Lemma gained_ext M g h : (forall r, In r M -> eval r g = eval r h) -> gained M g = gained M h.
Proof. intro H. unfold gained. f_equal. apply map_ext_in. assumption. Qed.

Lemma gained_add M g h : gained M (fun s => g s + h s) <= gained M g + gained M h.
Proof. apply best_lub; [apply add_ge0; apply best_ge0 |]. intros x I. apply in_map_iff in I; destruct I as (r & <- & I).
  rewrite eval_add. apply le_add2; apply best_ge; now apply in_map with (f := fun r => eval r _). Qed.

Lemma gained_mul M (c : F) g : 0 <= c -> gained M (fun s => c * g s) = c * gained M g.
Proof.
  intro H. unfold gained. induction M as [| r M IH]; simpl; [ring |]. rewrite eval_mul, IH.
  unfold larger. destruct (le_dec (c * eval r g) (c * best (map (fun r => eval r g) M))) as [A | A];
    destruct (le_dec (eval r g) (best (map (fun r => eval r g) M))) as [B | B]; try reflexivity.
  - apply le_antisym; [apply le_scale; [assumption | now apply lt_le] | assumption].
  - exfalso; apply A. now apply le_scale.
Qed.

Lemma gained_sum (A : Type) M (f : A -> positive -> F) l :
  gained M (fun s => sum (map (fun x => f x s) l)) <= sum (map (fun x => gained M (f x)) l).
Proof.
  induction l as [| x l IH]; simpl.
  - apply best_lub; [apply le_refl |]. intros y I. apply in_map_iff in I; destruct I as (r & <- & _).
    rewrite eval_const. apply le_by with (0 : F); [ring | apply le_refl].
  - apply le_trans with (1 := gained_add M (f x) (fun s => sum (map (fun x => f x s) l))). apply le_add2; [apply le_refl | assumption].
Qed.

(** ** What follows a state *)
Fixpoint after (w : list positive) (s : positive) : F :=
  match w with [] => 1 | l :: w' => eval (row C s) (fun t => if Pos.eqb (label C t) l then after w' t else 0) end.

(** V_n of docs/theory/leakage.md: the sum over the next n labels. *)
Definition value (n : nat) (M : rows_of) : F := sum (map (fun w => gained M (after w)) (words C n)).

Definition known (M : rows_of) : Prop := forall r, In r M -> inside C r.

(** The rows after a step with a label. *)
Definition step (l : positive) (M : rows_of) : rows_of := map (fun r => of_label C l (image C r)) M.

Lemma eval_of_label l r (g : positive -> F) : eval (of_label C l r) g = eval r (fun t => if Pos.eqb (label C t) l then g t else 0).
Proof. induction r as [| [s q] r IH]; simpl; [reflexivity |]. unfold of_label in *; simpl.
  destruct (Pos.eqb (label C s) l); simpl; rewrite IH; ring. Qed.

Lemma gained_step l M w : gained (step l M) (after w) = gained M (after (l :: w)).
Proof. unfold gained, step. rewrite map_map. f_equal. apply map_ext. intro r.
  now rewrite eval_of_label, eval_image. Qed.

Lemma value_step n M : value (S n) M = sum (map (fun l => value n (step l M)) (all_labels C)).
Proof. unfold value; simpl. rewrite sum_flat. apply sum_ext. intros l _. rewrite map_map.
  apply sum_ext. intros w _. now rewrite gained_step. Qed.

Lemma value_ge0 n M : 0 <= value n M.
Proof. apply sum_ge0; intros; apply best_ge0. Qed.

Lemma value_0 M : value 0 M = gained M (fun _ => 1).
Proof. unfold value; simpl. unfold gained; simpl. ring. Qed.

Lemma label_once s : In s (states C) -> NoDup (all_labels C) /\ In (label C s) (all_labels C).
Proof. intro H; split; [apply NoDup_nodup | apply nodup_In; now apply in_map]. Qed.

Lemma image_inside r : inside C r -> inside C (image C r).
Proof. intros H i q I. unfold image in I. apply in_flat_map in I; destruct I as ([s p] & Is & I). simpl in I.
  apply in_map_iff in I; destruct I as ([t x] & E & I). injection E as <- _.
  destruct (C_ok (H s p Is)) as [K _]. now apply (K t x). Qed.

Lemma step_known l M : known M -> known (step l M).
Proof. intros H r I. apply in_map_iff in I; destruct I as (r' & <- & I).
  intros i q Ii. apply filter_In in Ii; destruct Ii as [Ii _]. now apply (image_inside (H r' I) Ii). Qed.

(** Seeing more tells more. *)
Lemma value_more n : forall M, known M -> value n M <= value (S n) M.
Proof.
  induction n as [| n IH]; intros M H.
  - rewrite value_0. unfold value; simpl. rewrite sum_flat; simpl.
    apply le_trans with (gained M (fun s => sum (map (fun l => after [l] s) (all_labels C)))).
    + rewrite (@gained_ext M (fun _ => 1) (fun s => sum (map (fun l => after [l] s) (all_labels C)))); [apply le_refl |].
      intros r I. apply eval_ext. intros s q Is. assert (Hs := H r I s q Is). simpl.
      transitivity (eval (row C s) (fun _ => 1 : F)); [symmetry; now apply eval_row_const |].
      rewrite sum_eval. apply (eval_row_ext C_ok Hs). intros t Ht.
      destruct (label_once Ht). symmetry; now apply sum_once.
    + apply le_trans with (1 := gained_sum M (fun l => after [l]) (all_labels C)).
      apply sum_le. intros l _. apply le_by with (0 : F); [simpl; ring | apply le_refl].
  - rewrite !value_step. apply sum_le. intros l _. apply (IH (step l M)). now apply step_known.
Qed.

Lemma value_mono m n M : known M -> (m <= n)%nat -> value m M <= value n M.
Proof. intros H; induction 1; [apply le_refl |]. apply le_trans with (1 := IHle). now apply value_more. Qed.

Lemma after_sum n : forall s, In s (states C) -> sum (map (fun w => after w s) (words C n)) = 1.
Proof.
  induction n as [| n IH]; intros s Hs; simpl; [ring |]. rewrite sum_flat.
  rewrite (sum_ext (g := fun l => eval (row C s) (fun t => if Pos.eqb (label C t) l then 1 else 0))).
  - rewrite sum_eval. transitivity (eval (row C s) (fun _ => 1 : F)); [| now apply eval_row_const].
    apply (eval_row_ext C_ok Hs). intros t Ht.
    destruct (label_once Ht). now apply sum_once.
  - intros l _. rewrite map_map; simpl. rewrite sum_eval. apply (eval_row_ext C_ok Hs). intros t Ht.
    destruct (Pos.eqb (label C t) l); [now apply IH |].
    rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring | intros; ring].
Qed.

Lemma after_ge0 w : forall s, In s (states C) -> 0 <= after w s.
Proof. induction w as [| l w IH]; intros s Hs; simpl; [apply one_ge0 |].
  apply le_trans with (eval (row C s) (fun _ => 0 : F)); [rewrite (eval_row_const C_ok 0 Hs); apply le_refl |].
  apply (eval_row_le C_ok Hs). intros t Ht. destruct (Pos.eqb _ _); [now apply IH | apply le_refl]. Qed.

(** ** Rows that are those of another node, times a factor *)
Definition scaled (x : Q) (M N : rows_of) : Prop := forall g : positive -> F, map (fun r => eval r g) M = map (fun r => ofQ x * eval r g) N.

Lemma scaled_gained x M N g : (0 <= x)%Q -> scaled x M N -> gained M g = ofQ x * gained N g.
Proof. intros X H. unfold gained at 1. rewrite H.
  rewrite <- (gained_mul N g (ofQ_ge0 F X)). unfold gained. f_equal. apply map_ext. intro r. now rewrite eval_mul. Qed.

Lemma scaled_value x M N n : (0 <= x)%Q -> scaled x M N -> value n M = ofQ x * value n N.
Proof. intros X H. unfold value. rewrite <- sum_mul. apply sum_ext. intros w _. now apply scaled_gained. Qed.

Lemma nothing_value M n : (forall r g, In r M -> eval r g = (0 : F)) -> value n M = 0.
Proof. intro H. unfold value. rewrite (sum_ext (g := fun _ => 0 * 0)); [rewrite sum_mul; ring |].
  intros w _. replace (0 * 0 : F) with (0 : F) by ring. apply le_antisym; [| apply best_ge0].
  apply best_lub; [apply le_refl |]. intros x I. apply in_map_iff in I; destruct I as (r & <- & I).
  rewrite H by assumption. apply le_refl.
Qed.
End Leakage.

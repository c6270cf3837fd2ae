(** * Budgets by the distance of two states of a chain (rules K1 to K3 of docs/certificates/hmm-proofs.md)

    The chain's states stand for a state and an observation that it makes; its traces are the observation sequences. *)

From Coq Require Import ZArith QArith List Bool FMapPositive Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination Chain Tables Leakage CheckChain Check Hmm CheckHmm.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record coupling := {
  g_known : list positive;  (* the states of the model that the pair can reach *)
  g_labels : list (positive * positive);  (* by observation its label *)
  g_start : positive;  (* the label of the two states at which sequences begin *)
  g_images : list (positive * positive * positive);  (* by state and observation a state of the chain *)
  g_first : positive;
  g_second : positive;
  g_end : option (positive * positive);  (* where sequences end, if they do, and its label *)
  g_distance : distance_certificate
}.

Definition sights (P : prepared) (s : positive) : vector := match PositiveMap.find s (r_seen P) with Some r => fst r | None => [] end.

Definition spread (P : prepared) (image : positive -> positive -> positive) (v : vector) : vector :=
  flat_map (fun e : positive * Q => map (fun o : positive * Q => (image (fst e) (fst o), Qred (snd e * snd o))) (sights P (fst e))) v.

Definition alike (u v : vector) : bool := all_zero (u ++ scale (- (1)) v).

Definition label_at (g : coupling) : positive -> positive := let labels := build (g_labels g) in find_or xH labels.
Definition image_at (g : coupling) : positive -> positive -> positive :=
  let images := build2 (g_images g) in fun s y => match find2 images s y with Some t => t | None => xH end.

Definition check_coupling (k : markov) (P : prepared) (pi tau : vector) (c : Q) (g : coupling) : bool :=
  let d := g_distance g in
  let C := chain_of (d_model d) in
  let in_chain := knows C in
  let label_of := label_at g in
  let image := image_at g in
  Qle_bool 1 c && check_distance d && is_closed P (g_known g) (pi ++ tau) &&
  none_twice (PositiveMap.empty unit)
    (match g_end g with Some e => [snd e] | None => [] end ++ map label_of (made P (everything k))) &&
  match g_end g with Some (e, l) => Pos.eqb (label C e) l && alike (row C e) [(e, 1%Q)] | None => true end &&
  forallb (fun s => none_twice (PositiveMap.empty unit) (map fst (sights P s)) &&
    let next := match steps_from (hidden P) s, g_end g with [], Some (e, _) => [(e, 1%Q)] | [], None => [] | steps, _ => spread P image steps end in
    forallb (fun o : positive * Q => let t := image s (fst o) in
      in_chain t && Pos.eqb (label C t) (label_of (fst o)) && alike (row C t) next) (sights P s)) (g_known g) &&
  in_chain (g_first g) && Pos.eqb (label C (g_first g)) (g_start g) && alike (row C (g_first g)) (spread P image pi) &&
  in_chain (g_second g) && Pos.eqb (label C (g_second g)) (g_start g) && alike (row C (g_second g)) (spread P image tau) &&
  (Pos.eqb (g_first g) (g_second g) ||
   (d_both d && Qeq_bool (d_alpha d) c &&
    existsb (fun x => Pos.eqb (c_from x) (g_first g) && Pos.eqb (c_to x) (g_second g) && Qeq_bool (c_upper x) 0) (d_claims d))).

Definition distribution_ge0 (v : vector) : Prop := forall s q, In (s, q) v -> (0 <= q)%Q.

Section Sound.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable k : markov.
Let P := prepare k.
Let H := hidden P.
Hypothesis ok : check_markov k P = true.

Lemma sights_observed s z q : In (z, q) (sights P s) -> (0 < observes H s z)%Q.
Proof.
  unfold sights. destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:E; [| easy]. intro I. pose proof (observes_is k s z) as O.
  fold P H in O. rewrite E in O. destruct (seen_found E) as [J B]. rewrite B in O. rewrite O.
  destruct (@checked_row k ok (fst r)) as [Pos _]; [rewrite map_app, in_app_iff; auto |].
  destruct (PositiveMap.find z (build (fst r))) as [q' |] eqn:Fd; [apply build_found in Fd; apply (Pos (z, q') Fd) |].
  apply (in_map fst) in I. now apply build_complete in I.
Qed.

Lemma sights_made s z : In z (map fst (sights P s)) -> In z (made P (everything k)).
Proof.
  intro I. apply in_map_iff in I. destruct I as ([z' q] & <- & I). destruct (in_dec Pos.eq_dec z' (made P (everything k))) as [J | N]; [exact J |].
  apply sights_observed in I. pose proof (unmade_anywhere s N) as Z. fold P H in Z. rewrite Z in I. discriminate I.
Qed.

Lemma sights_at s x : find_or 0%Q (build (sights P s)) x = observes H s x.
Proof.
  pose proof (observes_is k s x) as O. fold P H in O. rewrite O. unfold sights, find_or.
  destruct (PositiveMap.find s (r_seen P)) as [r |] eqn:E; [| now rewrite PositiveMap.gempty]. destruct (seen_found E) as [_ B]. now rewrite B.
Qed.

Lemma eval_pick (l : vector) x (y : F) (f : positive -> F) : NoDup (map fst l) -> (forall z, In z (map fst l) -> f z = if Pos.eqb z x then y else 0) ->
  eval l f = ofQ (find_or 0%Q (build l) x) * y.
Proof.
  induction l as [| [z q] l IH]; intros N Fz.
  - unfold find_or; simpl. rewrite PositiveMap.gempty, ofQ_0; ring.
  - simpl in N. inversion N as [| ? ? N1 N2]; subst. simpl eval. rewrite IH by (auto; intros u I; apply Fz; now right).
    rewrite Fz by now left. unfold find_or; simpl. destruct (Pos.eqb_spec z x) as [-> | D].
    + rewrite PositiveMap.gss. destruct (PositiveMap.find x (build l)) as [q' |] eqn:E; [| rewrite ofQ_0; ring].
      apply build_found, (in_map fst) in E. contradiction.
    + rewrite PositiveMap.gso by congruence. ring.
Qed.

Lemma eval_spread image v (f : positive -> F) : eval (spread P image v) f = eval v (fun s => eval (sights P s) (fun z => f (image s z))).
Proof.
  induction v as [| [s q] v IH]; simpl; [reflexivity |]. unfold spread in *. simpl. rewrite eval_app, IH. f_equal.
  generalize (sights P s) as l; induction l as [| [z o] l IHl]; simpl; [ring |]. rewrite IHl, (ofQ_eq F (Qred_correct _)), ofQ_mul. ring.
Qed.

Lemma alike_ok u v (f : positive -> F) : alike u v = true -> eval u f = eval v f.
Proof. intro A. apply all_zero_ok with (f := f) in A. rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in A. now apply no_difference. Qed.

Lemma once_in (A B : Type) (f : A -> B) l : NoDup (map f l) -> forall x y, In x l -> In y l -> f x = f y -> x = y.
Proof.
  induction l as [| a l IH]; simpl; intros N x y Ix Iy E; [easy |]. inversion N as [| ? ? N1 N2]; subst.
  destruct Ix as [-> | Ix], Iy as [-> | Iy]; auto.
  - exfalso; apply N1. rewrite E. now apply in_map.
  - exfalso; apply N1. rewrite <- E. now apply in_map.
Qed.

Lemma coupling_sound pi tau c g : distribution_ge0 pi -> distribution_ge0 tau ->
  check_coupling k P pi tau c g = true -> is_budget F H of_any_length c pi tau.
Proof.
  intros Pi0 Tau0. unfold check_coupling. cbv zeta. fold H. set (d := g_distance g). set (C := chain_of (d_model d)).
  set (label_of := label_at g). set (image := image_at g). rewrite !andb_true_iff, forallb_forall.
  intros [[[[[[[[[[[[A Cd] Cl] La] En] St] Kf] _] Rf] Ks] _] Rs] Cm].
  apply Qle_bool_iff in A. destruct (check_distance_sound Cd) as (C_ok & _ & Claims). fold C in C_ok, Claims.
  apply is_closed_ok in Cl. destruct Cl as [Next Start]. apply none_twice_ok in La. destruct La as [La _].
  apply knows_ok in Kf; apply knows_ok in Ks. set (all := made P (everything k)) in *.
  assert (Once : NoDup (map label_of all)) by (destruct (g_end g); [now inversion La | exact La]).
  (* What comes after a sequence of masses is what comes after the states that stand for them. *)
  assert (Step : forall w' x v r, In x all -> (forall e, In e v -> In (fst e) (g_known g)) -> alike r (spread P image v) = true ->
    (forall s y, In s (g_known g) -> In y (map fst (sights P s)) -> after F C (map label_of w') (image s y) = after_leaving F H w' s) ->
    eval r (fun t => if Pos.eqb (label C t) (label_of x) then after F C (map label_of w') t else 0)
      = eval v (fun s => ofQ (observes H s x) * after_leaving F H w' s)).
  { intros w' x v r Ix Inside R IH. rewrite (alike_ok _ R), eval_spread. apply eval_ext. intros s q I. apply Inside in I. simpl in I.
    pose proof (St s I) as S. rewrite andb_true_iff, forallb_forall in S. destruct S as [Nd S]. apply none_twice_ok in Nd. destruct Nd as [Nd _].
    rewrite <- sights_at. apply eval_pick; [exact Nd |]. intros z Iz. pose proof Iz as Jz. apply in_map_iff in Jz. destruct Jz as ([z' o] & Eq & Jz).
    simpl in Eq; subst z'. apply S in Jz. rewrite !andb_true_iff in Jz. destruct Jz as [[_ L] _]. apply Pos.eqb_eq in L. cbn [fst] in L. rewrite L.
    destruct (Pos.eqb_spec z x) as [-> | D].
    - rewrite Pos.eqb_refl. now apply IH.
    - destruct (Pos.eqb_spec (label_of z) (label_of x)) as [E | _]; [| reflexivity]. exfalso; apply D.
      apply (once_in Once (sights_made Iz) Ix E). }
  assert (Image : forall w, (forall x, In x w -> In x all) -> forall s y, In s (g_known g) -> In y (map fst (sights P s)) ->
    after F C (map label_of w) (image s y) = after_leaving F H w s).
  { induction w as [| x w IH]; intros Made s y I J; [reflexivity |].
    pose proof (St s I) as S. rewrite andb_true_iff, forallb_forall in S. destruct S as [_ S].
    pose proof J as J'. apply in_map_iff in J'. destruct J' as ([y' o] & Eq & J'). simpl in Eq; subst y'. apply S in J'.
    rewrite !andb_true_iff in J'. destruct J' as [_ R]. cbn [fst] in R. cbn [map after]. rewrite leaving_from.
    change (from F H (x :: w)) with (fun t => ofQ (observes H t x) * after_leaving F H w t).
    destruct (steps_from H s) as [| e steps] eqn:Es.
    - rewrite (alike_ok _ R). destruct (g_end g) as [[e l] |]; [| reflexivity]. rewrite andb_true_iff in En. destruct En as [Le _].
      apply Pos.eqb_eq in Le. cbn [eval]. rewrite Le. destruct (Pos.eqb_spec l (label_of x)) as [E | _]; [| ring].
      exfalso. inversion La as [| ? ? N1 N2]. apply N1. simpl in E |- *. rewrite E. apply in_map, Made. now left.
    - apply (Step w x (e :: steps) (row C (image s y))); [apply Made; now left | | exact R | apply IH; intros z Iz; apply Made; now right].
      intros e' Ie. rewrite <- Es in Ie. destruct e' as [t q]. now apply (Next s t q). }
  assert (Prob : forall v first w, (forall e, In e v -> In (fst e) (g_known g)) -> In first (states C) -> alike (row C first) (spread P image v) = true ->
    w <> [] -> (forall x, In x w -> In x all) -> pr C (S (length (map label_of w))) first (ends_in (map label_of w)) = probability_of F H v w).
  { intros v first w Inside If R Nw Made. rewrite (pr_ends F C_ok _ If). destruct w as [| x w]; [easy |]. cbn [map after].
    unfold probability_of. change (from F H (x :: w)) with (fun s => ofQ (observes H s x) * after_leaving F H w s).
    apply Step; [apply Made; now left | exact Inside | exact R |]. intros s y I J. apply Image; auto. intros z Iz. apply Made; now right. }
  assert (In_pi : forall e, In e pi -> In (fst e) (g_known g)) by (intros e I; apply Start, in_or_app; auto).
  assert (In_tau : forall e, In e tau -> In (fst e) (g_known g)) by (intros e I; apply Start, in_or_app; auto).
  assert (Ge0 : forall v w, distribution_ge0 v -> 0 <= probability_of F H v w).
  { intros v w V0. apply eval_ge0; [exact V0 |]. intros; apply from_ge0, (H_is_hmm ok). }
  (* A sequence with an observation that no state makes has probability 0. *)
  assert (None_made : forall v w, (exists x, In x w /\ ~ In x all) -> probability_of F H v w = 0).
  { intros v w (x & Ix & N). unfold probability_of. rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |]. intros s q _.
    assert (Unseen : forall t, observes H t x = 0%Q) by (intro t; exact (unmade_anywhere t N)).
    assert (Later : forall u, In x u -> forall t, after_leaving F H u t = 0).
    { induction u as [| y u IHu]; intros Iu t0; [easy |]. rewrite leaving_from. rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |].
      intros t p _. change (ofQ (observes H t y) * after_leaving F H u t = 0).
      destruct Iu as [-> | Iu]; [rewrite Unseen, ofQ_0; ring | rewrite (IHu Iu); ring]. }
    destruct w as [| y u]; [easy |].
    change (ofQ (observes H s y) * after_leaving F H u s = 0). destruct Ix as [-> | Iu]; [rewrite Unseen, ofQ_0; ring | rewrite (Later u Iu); ring]. }
  assert (Both : forall v v' w, distribution_ge0 v' -> w <> [] ->
    ((forall x, In x w -> In x all) -> probability_of F H v w <= ofQ c * probability_of F H v' w) -> probability_of F H v w <= ofQ c * probability_of F H v' w).
  { intros v v' w V0 Nw Hyp. destruct (Forall_Exists_dec (fun x => In x all) (fun x => in_dec Pos.eq_dec x all) w) as [Al | Ex].
    - apply Hyp. now apply Forall_forall.
    - apply Exists_exists in Ex. rewrite (None_made v w Ex). apply le_mul; [apply ofQ_ge0; lra | now apply Ge0]. }
  apply orb_true_iff in Cm. destruct Cm as [Same | Cm].
  - apply Pos.eqb_eq in Same.
    assert (E : forall w, w <> [] -> (forall x, In x w -> In x all) -> probability_of F H pi w = probability_of F H tau w).
    { intros w Nw Made. rewrite <- (Prob pi _ w In_pi Kf Rf Nw Made), <- (Prob tau _ w In_tau Ks Rs Nw Made). now rewrite Same. }
    assert (More : forall v w, distribution_ge0 v -> probability_of F H v w <= ofQ c * probability_of F H v w).
    { intros v w V0. apply le_by with ((ofQ c - ofQ 1) * probability_of F H v w); [rewrite ofQ_1; ring |].
      apply le_mul; [apply sub_ge0; now apply ofQ_le | now apply Ge0]. }
    split; intros w Nw; apply Both; auto; intro Made; [rewrite (E w Nw Made) | rewrite <- (E w Nw Made)]; now apply More.
  - rewrite !andb_true_iff in Cm. destruct Cm as [[Bo Al] Ex]. apply Qeq_bool_iff in Al. apply existsb_exists in Ex.
    destruct Ex as (x & Ix & Ex). rewrite !andb_true_iff in Ex. destruct Ex as [[Ef Et] Eu].
    apply Pos.eqb_eq in Ef; apply Pos.eqb_eq in Et. apply Qeq_bool_iff in Eu. destruct (Claims x Ix) as (_ & _ & Cx).
    destruct (Cx F) as (_ & _ & _ & One & Two). fold d C in One, Two. specialize (Two Bo). rewrite Ef, Et in One, Two.
    split; intros w Nw; apply Both; auto; intro Made.
    + rewrite <- (Prob pi _ w In_pi Kf Rf Nw Made), <- (Prob tau _ w In_tau Ks Rs Nw Made). eapply le_trans; [apply One |].
      rewrite (ofQ_eq F Al), (ofQ_eq F Eu), ofQ_0. match goal with |- ?a + 0 <= _ => apply le_by with (0 : F); [ring | apply le_refl] end.
    + rewrite <- (Prob pi _ w In_pi Kf Rf Nw Made), <- (Prob tau _ w In_tau Ks Rs Nw Made). eapply le_trans; [apply Two |].
      rewrite (ofQ_eq F Al), (ofQ_eq F Eu), ofQ_0. match goal with |- ?a + 0 <= _ => apply le_by with (0 : F); [ring | apply le_refl] end.
Qed.
End Sound.

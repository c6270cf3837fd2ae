(** * A draw that waits until the end of the run

    How far the noise of a draw has to be shifted may depend on draws that come later: report noisy max with gap tells by how
    much the winner may shrink. Draws are independent, so this noise may be unknown until the end. Each test of it is
    guessed. The second run makes the guesses that are right for the first; if they are right for its noise too, the
    noise that waits may be shifted by what the end of both runs says. *)

From Coq Require Import ZArith List Bool Field Lia.
From Bisimdist Require Import OrderedField Coupling.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Deferred.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variables Output Returned Guess : Type.

Record program := {
  State : Type;
  law : nat -> State -> Z -> F;
  step : nat -> State -> Z -> State * Output;
  returned : State -> Returned;
  law_ge0 : forall i x z, 0 <= law i x z
}.

(** How it runs while the noise of one draw waits. A state [w] of such a run stands for the state [view w u] of the program, for
    each noise [u] that is [possible] there: those for which its guesses were right. *)
Record waiting (P : program) := {
  Wait : Type;
  waits : nat -> State P -> bool;  (* whether the draw of this step waits *)
  begin : nat -> State P -> Wait;
  quiet : nat -> State P -> Output;  (* what is told in the step whose draw waits *)
  view : Wait -> Z -> State P;
  possible : Wait -> Z -> Prop;
  noise : Wait -> Z -> F;  (* the law of the draw that waits *)
  wait_law : nat -> Wait -> Z -> F;
  wait_step : nat -> Wait -> Z -> Guess -> Wait * Output;
  right_guess : nat -> Wait -> Z -> Z -> Guess;  (* by the draw of this step, and the noise that waits *)
  noise_ge0 : forall w u, 0 <= noise w u;
  begins_step : forall i x u, waits i x = true -> step i x u = (view (begin i x) u, quiet i x);
  begins_possible : forall i x u, waits i x = true -> possible (begin i x) u;
  begins_noise : forall i x u, waits i x = true -> noise (begin i x) u = law i x u;
  waits_law : forall i w u z, law i (view w u) z = wait_law i w z;
  waits_step : forall i w u z, possible w u ->
    step i (view w u) z = (view (fst (wait_step i w z (right_guess i w z u))) u, snd (wait_step i w z (right_guess i w z u)));
  waits_possible : forall i w u z g,
    possible (fst (wait_step i w z g)) u <-> possible w u /\ right_guess i w z u = g;
  waits_noise : forall i w z g u, noise (fst (wait_step i w z g)) u = noise w u
}.

Fixpoint reached (P : program) (i : nat) (x : State P) (zs : list Z) : State P :=
  match zs with [] => x | z :: zs' => reached (S i) (fst (step i x z)) zs' end.

Variables P Q : program.
Notation weigh := (fun R => weight (@law R) (@step R)).

Lemma weigh_ge0 R zs : forall i x, 0 <= weigh R i x zs.
Proof. induction zs as [| z zs IH]; intros i x; simpl; [apply one_ge0 | apply le_mul; [apply law_ge0 | apply IH]]. Qed.

Section OneOutput.
Variables (n : nat) (o : list Output) (r : Returned) (x1 : State P) (x2 : State Q).
Variables (V1 : waiting P) (V2 : waiting Q).

(** The run tells the rest of [o], and returns [r]. *)
Definition shows R (i : nat) (x : State R) zs := said (@step R) i x zs = skipn i o /\ returned (reached i x zs) = r.

(** No run from here does. *)
Definition hopeless i (x : State P) := forall zs, (i + length zs = n)%nat -> ~ shows i x zs.
Definition wait_hopeless i (w : Wait V1) :=
  forall u zs, possible w u -> (i + length zs = n)%nat -> ~ shows i (view w u) zs.

(** What a strategy has to obey: until a draw waits as in [Coupling.strategy]; then as it, where both runs make the same guess,
    and in the end for the noise that has waited. [B] and [wait_B] are what the rest costs at most. *)
Record deferred_strategy := {
  shift : nat -> State P -> State Q -> Z -> Z;
  J : nat -> State P -> State Q -> Prop;
  B : nat -> State P -> State Q -> F;
  wait_shift : nat -> Wait V1 -> Wait V2 -> Z -> Guess -> Z;
  wait_J : nat -> Wait V1 -> Wait V2 -> Prop;
  wait_B : nat -> Wait V1 -> Wait V2 -> F;
  last_shift : Wait V1 -> Wait V2 -> Z;
  starts : J 0 x1 x2;
  goes_on : forall i y1 y2 z, (i < n)%nat -> J i y1 y2 -> waits V1 i y1 = false ->
    nth_error o i = Some (snd (step i y1 z)) ->
    let z' := (z + shift i y1 y2 z)%Z in
    let next1 := fst (step i y1 z) in
    let next2 := fst (step i y2 z') in
    hopeless (S i) next1 \/
    snd (step i y2 z') = snd (step i y1 z) /\ J (S i) next1 next2 /\
    exists cost, 0 <= cost /\ law i y1 z <= cost * law i y2 z' /\ cost * B (S i) next1 next2 <= B i y1 y2;
  separates : forall i y1 y2 z z', (i < n)%nat -> J i y1 y2 -> waits V1 i y1 = false ->
    nth_error o i = Some (snd (step i y1 z)) -> nth_error o i = Some (snd (step i y1 z')) ->
    ~ hopeless (S i) (fst (step i y1 z)) -> ~ hopeless (S i) (fst (step i y1 z')) ->
    (z + shift i y1 y2 z = z' + shift i y1 y2 z')%Z -> z = z';
  ends : forall y1 y2, J n y1 y2 -> returned y1 = r -> returned y2 = r /\ 1 <= B n y1 y2;
  begins : forall i y1 y2, (i < n)%nat -> J i y1 y2 -> waits V1 i y1 = true -> nth_error o i = Some (quiet V1 i y1) ->
    wait_hopeless (S i) (begin V1 i y1) \/
    waits V2 i y2 = true /\ quiet V2 i y2 = quiet V1 i y1 /\ wait_J (S i) (begin V1 i y1) (begin V2 i y2) /\
    wait_B (S i) (begin V1 i y1) (begin V2 i y2) <= B i y1 y2;
  wait_goes_on : forall i y1 y2 z g, (i < n)%nat -> wait_J i y1 y2 ->
    nth_error o i = Some (snd (wait_step i y1 z g)) ->
    let z' := (z + wait_shift i y1 y2 z g)%Z in
    let next1 := fst (wait_step i y1 z g) in
    let next2 := fst (wait_step i y2 z' g) in
    wait_hopeless (S i) next1 \/
    snd (wait_step i y2 z' g) = snd (wait_step i y1 z g) /\ wait_J (S i) next1 next2 /\
    exists cost, 0 <= cost /\ wait_law i y1 z <= cost * wait_law i y2 z' /\
      cost * wait_B (S i) next1 next2 <= wait_B i y1 y2;
  wait_separates : forall i y1 y2 z z' g, (i < n)%nat -> wait_J i y1 y2 ->
    nth_error o i = Some (snd (wait_step i y1 z g)) -> nth_error o i = Some (snd (wait_step i y1 z' g)) ->
    ~ wait_hopeless (S i) (fst (wait_step i y1 z g)) -> ~ wait_hopeless (S i) (fst (wait_step i y1 z' g)) ->
    (z + wait_shift i y1 y2 z g = z' + wait_shift i y1 y2 z' g)%Z -> z = z';
  wait_ends : forall y1 y2 u, wait_J n y1 y2 -> possible y1 u -> returned (view y1 u) = r ->
    let u' := (u + last_shift y1 y2)%Z in
    possible y2 u' /\ returned (view y2 u') = r /\
    exists cost, 0 <= cost /\ noise y1 u <= cost * noise y2 u' /\ cost <= wait_B n y1 y2
}.

Variable s : deferred_strategy.

Lemma skipn_head A (l l' : list A) a i : a :: l' = skipn i l -> nth_error l i = Some a /\ l' = skipn (S i) l.
Proof. revert i; induction l as [| b l IH]; intros [| i] E; simpl in *; try discriminate.
  - now inversion E.
  - destruct (IH i E) as [H K]. split; [exact H |]. now rewrite K. Qed.

(** ** While the noise [u] waits: the draws of the second run, and its noise *)

Fixpoint wait_shifted (u : Z) (i : nat) (y1 : Wait V1) (y2 : Wait V2) (zs : list Z) : list Z :=
  match zs with
  | [] => []
  | z :: zs' =>
      let g := right_guess i y1 z u in
      let z' := (z + wait_shift s i y1 y2 z g)%Z in
      z' :: wait_shifted u (S i) (fst (wait_step i y1 z g)) (fst (wait_step i y2 z' g)) zs'
  end.

Fixpoint other_noise (u : Z) (i : nat) (y1 : Wait V1) (y2 : Wait V2) (zs : list Z) : Z :=
  match zs with
  | [] => (u + last_shift s y1 y2)%Z
  | z :: zs' =>
      let g := right_guess i y1 z u in
      let z' := (z + wait_shift s i y1 y2 z g)%Z in
      other_noise u (S i) (fst (wait_step i y1 z g)) (fst (wait_step i y2 z' g)) zs'
  end.

Lemma wait_shifted_length u zs : forall i y1 y2, length (wait_shifted u i y1 y2 zs) = length zs.
Proof. induction zs; intros; simpl; congruence. Qed.

(** A run that shows the rest takes a step: what is told, and that the rest is shown from there. *)
Lemma wait_head i (y1 : Wait V1) u z zs : possible y1 u -> shows i (view y1 u) (z :: zs) ->
  let g := right_guess i y1 z u in
  nth_error o i = Some (snd (wait_step i y1 z g)) /\ possible (fst (wait_step i y1 z g)) u /\
  shows (S i) (view (fst (wait_step i y1 z g)) u) zs.
Proof.
  intros Po [E R]. simpl in E, R. rewrite (waits_step i z Po) in E, R. simpl in E, R.
  destruct (skipn_head E) as [Hd Tl]. split; [exact Hd |]. split; [now apply waits_possible |]. now split. Qed.

Lemma wait_law_ge0 R (V : waiting R) i (w : Wait V) (u z : Z) : 0 <= wait_law i w z.
Proof. rewrite <- (waits_law i w u z). apply law_ge0. Qed.

Lemma wait_ok u zs : forall i y1 y2, (i + length zs = n)%nat -> wait_J s i y1 y2 -> possible y1 u ->
  shows i (view y1 u) zs ->
  let u' := other_noise u i y1 y2 zs in
  let zs' := wait_shifted u i y1 y2 zs in
  possible y2 u' /\ shows i (view y2 u') zs' /\ 0 <= wait_B s i y1 y2 /\
  noise y1 u * weigh P i (view y1 u) zs <= wait_B s i y1 y2 * (noise y2 u' * weigh Q i (view y2 u') zs').
Proof.
  induction zs as [| z zs IH]; intros i y1 y2 L H Po Sh; simpl in L.
  - destruct Sh as [E R]. simpl in E, R. replace i with n in * by lia.
    destruct (wait_ends H Po R) as (Po2 & R2 & cost & C0 & C1 & C2). simpl.
    split; [exact Po2 |]. split; [now split |]. split; [now apply le_trans with cost |].
    apply le_trans with (cost * noise y2 (u + last_shift s y1 y2)%Z).
    + eapply le_trans; [| exact C1]. apply le_by with (0 : F); [ring | apply le_refl].
    + apply le_by with ((wait_B s n y1 y2 - cost) * noise y2 (u + last_shift s y1 y2)%Z); [ring |].
      apply le_mul; [now apply sub_ge0 | apply noise_ge0].
  - destruct (wait_head Po Sh) as (Hd & Po' & Tl). assert (Li : (i < n)%nat) by lia.
    destruct (wait_goes_on Li H Hd) as [Bad | (Same & Next & cost & C0 & C1 & C2)].
    { exfalso. apply (Bad u zs Po'); [lia | exact Tl]. }
    destruct (IH (S i) _ _ ltac:(lia) Next Po' Tl) as (Po2 & Sh2 & B0 & W).
    cbn [other_noise wait_shifted]. set (g := right_guess i y1 z u) in *.
    set (z' := (z + wait_shift s i y1 y2 z g)%Z) in *.
    set (next1 := fst (wait_step i y1 z g)) in *. set (next2 := fst (wait_step i y2 z' g)) in *.
    set (u' := other_noise u (S i) next1 next2 zs) in *. set (zs' := wait_shifted u (S i) next1 next2 zs) in *.
    set (b := wait_B s (S i) next1 next2) in *.
    destruct (proj1 (waits_possible i y2 u' z' g) Po2) as [Po3 G].
    assert (St : step i (view y2 u') z' = (view next2 u', snd (wait_step i y2 z' g))).
    { rewrite (waits_step i z' Po3), G. reflexivity. }
    split; [exact Po3 |]. split.
    { destruct Sh2 as [E2 R2]. split; simpl; rewrite St; simpl; [| exact R2]. rewrite Same, E2.
      destruct Sh as [E _]. simpl in E. rewrite (waits_step i z Po) in E. simpl in E. fold g in E. fold next1 in E.
      rewrite <- E. f_equal. destruct Tl as [T _]. now symmetry. }
    split; [apply le_trans with (cost * b); [now apply le_mul | exact C2] |].
    cbn [weight]. rewrite St. rewrite (waits_step i z Po). fold g. cbn [fst]. fold next1.
    rewrite (waits_law i y1 u z), (waits_law i y2 u' z').
    assert (N1 : noise next1 u = noise y1 u) by apply waits_noise.
    assert (N2 : noise next2 u' = noise y2 u') by apply waits_noise.
    rewrite N1, N2 in W.
    set (v := weigh Q (S i) (view next2 u') zs') in *. set (w := weigh P (S i) (view next1 u) zs) in *.
    assert (V : 0 <= v) by apply weigh_ge0.
    assert (L1 : 0 <= wait_law i y1 z) by exact (wait_law_ge0 i y1 0%Z z).
    assert (L2 : 0 <= wait_law i y2 z') by exact (wait_law_ge0 i y2 0%Z z').
    assert (M : 0 <= noise y2 u') by apply noise_ge0.
    apply le_trans with (cost * wait_law i y2 z' * (b * (noise y2 u' * v))).
    + apply le_trans with (wait_law i y1 z * (b * (noise y2 u' * v))).
      * apply le_trans with (wait_law i y1 z * (noise y1 u * w)); [apply le_by with (0 : F); [ring | apply le_refl] |].
        apply le_scale; [exact L1 | exact W].
      * apply le_by with ((cost * wait_law i y2 z' - wait_law i y1 z) * (b * (noise y2 u' * v))); [ring |].
        apply le_mul; [now apply sub_ge0 | apply le_mul; [exact B0 | now apply le_mul]].
    + apply le_by with ((wait_B s i y1 y2 - cost * b) * (wait_law i y2 z' * (noise y2 u' * v))); [ring |].
      apply le_mul; [now apply sub_ge0 | apply le_mul; [exact L2 | now apply le_mul]].
Qed.

Lemma wait_injective u v zs : forall zs2 i y1 y2, (i + length zs = n)%nat -> wait_J s i y1 y2 ->
  possible y1 u -> possible y1 v -> shows i (view y1 u) zs -> shows i (view y1 v) zs2 ->
  wait_shifted u i y1 y2 zs = wait_shifted v i y1 y2 zs2 -> other_noise u i y1 y2 zs = other_noise v i y1 y2 zs2 ->
  u = v /\ zs = zs2.
Proof.
  induction zs as [| z zs IH]; intros [| z2 zs2] i y1 y2 L H Pu Pv Su Sv Eq En; try discriminate.
  - simpl in En. split; [lia | reflexivity].
  - simpl in L. assert (L2 : length zs2 = length zs).
    { apply (f_equal (@length Z)) in Eq. rewrite !wait_shifted_length in Eq. simpl in Eq. lia. }
    destruct (wait_head Pu Su) as (Hd & Pu' & Tl), (wait_head Pv Sv) as (Hd2 & Pv' & Tl2).
    assert (Li : (i < n)%nat) by lia.
    destruct (wait_goes_on Li H Hd) as [Bad | (_ & Next & _)]; [exfalso; apply (Bad u zs Pu'); [lia | exact Tl] |].
    destruct (wait_goes_on Li H Hd2) as [Bad | (_ & Next2 & _)]; [exfalso; apply (Bad v zs2 Pv'); [lia | exact Tl2] |].
    destruct (@wait_ok u zs (S i) _ _ ltac:(lia) Next Pu' Tl) as (Po & _).
    destruct (@wait_ok v zs2 (S i) _ _ ltac:(lia) Next2 Pv' Tl2) as (Po2 & _).
    cbn [wait_shifted other_noise] in Eq, En. injection Eq as First Rest.
    (* The noise of the second run says the guess, which both runs make. *)
    apply waits_possible in Po. apply waits_possible in Po2. destruct Po as [_ G], Po2 as [_ G2].
    rewrite En, First in G. rewrite G in G2. rewrite <- G2 in *.
    assert (N : ~ wait_hopeless (S i) (fst (wait_step i y1 z (right_guess i y1 z u)))).
    { intro Bad. apply (Bad u zs Pu'); [lia | exact Tl]. }
    assert (N2 : ~ wait_hopeless (S i) (fst (wait_step i y1 z2 (right_guess i y1 z u)))).
    { intro Bad. apply (Bad v zs2 Pv'); [lia | exact Tl2]. }
    assert (z = z2) by exact (wait_separates Li H Hd Hd2 N N2 First). subst z2.
    destruct (IH zs2 (S i) _ _ ltac:(lia) Next Pu' Pv' Tl Tl2 Rest En) as [-> ->]. now split. Qed.

(** ** The whole run *)

Fixpoint carried (i : nat) (y1 : State P) (y2 : State Q) (zs : list Z) : list Z :=
  match zs with
  | [] => []
  | z :: zs' =>
      if waits V1 i y1
      then other_noise z (S i) (begin V1 i y1) (begin V2 i y2) zs' :: wait_shifted z (S i) (begin V1 i y1) (begin V2 i y2) zs'
      else let z' := (z + shift s i y1 y2 z)%Z in
        z' :: carried (S i) (fst (step i y1 z)) (fst (step i y2 z')) zs'
  end.

Lemma carried_length zs : forall i y1 y2, length (carried i y1 y2 zs) = length zs.
Proof. induction zs as [| z zs IH]; intros; simpl; [reflexivity |].
  destruct (waits V1 i y1); simpl; [now rewrite wait_shifted_length | now rewrite IH]. Qed.

Lemma head R i (y : State R) z zs : shows i y (z :: zs) ->
  nth_error o i = Some (snd (step i y z)) /\ shows (S i) (fst (step i y z)) zs.
Proof. intros [E Re]. simpl in E, Re. destruct (skipn_head E) as [Hd Tl]. now repeat split. Qed.

Lemma not_hopeless i (y : State P) zs : (i + length zs = n)%nat -> shows i y zs -> ~ hopeless i y.
Proof. intros L Sh Bad. exact (Bad zs L Sh). Qed.

Lemma begins_head i (y : State P) z zs : waits V1 i y = true -> shows i y (z :: zs) ->
  nth_error o i = Some (quiet V1 i y) /\ possible (begin V1 i y) z /\ shows (S i) (view (begin V1 i y) z) zs.
Proof. intros Wa Sh. destruct (head Sh) as [Hd Tl]. rewrite (begins_step z Wa) in Hd, Tl. simpl in Hd, Tl.
  split; [exact Hd |]. split; [now apply begins_possible | exact Tl]. Qed.

Lemma carried_ok zs : forall i y1 y2, (i + length zs = n)%nat -> J s i y1 y2 -> shows i y1 zs ->
  shows i y2 (carried i y1 y2 zs) /\ 0 <= B s i y1 y2 /\
  weigh P i y1 zs <= B s i y1 y2 * weigh Q i y2 (carried i y1 y2 zs).
Proof.
  induction zs as [| z zs IH]; intros i y1 y2 L H Sh; simpl in L.
  - destruct Sh as [E R]. simpl in E, R. replace i with n in * by lia. destruct (ends H R) as [R2 K]. simpl.
    split; [now split |]. split; [apply le_trans with (1 : F); [apply one_ge0 | exact K] |].
    apply le_by with (B s n y1 y2 - 1); [ring | now apply sub_ge0].
  - assert (Li : (i < n)%nat) by lia. cbn [carried]. destruct (waits V1 i y1) eqn:Wa.
    + destruct (begins_head Wa Sh) as (Hd & Po & Tl).
      destruct (begins Li H Wa Hd) as [Bad | (Wa2 & Same & Next & Le)]; [exfalso; apply (Bad z zs Po); [lia | exact Tl] |].
      destruct (@wait_ok z zs (S i) _ _ ltac:(lia) Next Po Tl) as (Po2 & Sh2 & B0 & W).
      set (u' := other_noise z (S i) (begin V1 i y1) (begin V2 i y2) zs) in *.
      set (zs' := wait_shifted z (S i) (begin V1 i y1) (begin V2 i y2) zs) in *.
      split.
      { destruct Sh2 as [E2 R2]. split; simpl; rewrite (begins_step u' Wa2); simpl; [| exact R2].
        rewrite Same, E2. destruct Sh as [E _]. simpl in E. rewrite (begins_step z Wa) in E. simpl in E.
        rewrite <- E. f_equal. destruct Tl as [T _]. now symmetry. }
      split; [eapply le_trans; [exact B0 | exact Le] |].
      cbn [weight]. rewrite (begins_step z Wa), (begins_step u' Wa2). cbn [fst].
      rewrite <- (begins_noise z Wa), <- (begins_noise u' Wa2).
      eapply le_trans; [exact W |].
      set (m := noise (begin V2 i y2) u' * weigh Q (S i) (view (begin V2 i y2) u') zs') in *.
      assert (M : 0 <= m) by (apply le_mul; [apply noise_ge0 | apply weigh_ge0]).
      apply le_by with ((B s i y1 y2 - wait_B s (S i) (begin V1 i y1) (begin V2 i y2)) * m); [ring |].
      apply le_mul; [now apply sub_ge0 | exact M].
    + destruct (head Sh) as [Hd Tl].
      destruct (goes_on Li H Wa Hd) as [Bad | (Same & Next & cost & C0 & C1 & C2)].
      { exfalso. apply (Bad zs); [lia | exact Tl]. }
      destruct (IH (S i) _ _ ltac:(lia) Next Tl) as (Sh2 & B0 & W).
      set (z' := (z + shift s i y1 y2 z)%Z) in *. cbv zeta.
      set (b := B s (S i) (fst (step i y1 z)) (fst (step i y2 z'))) in *.
      split.
      { destruct Sh2 as [E2 R2]. split; simpl; fold z'; [| exact R2]. rewrite Same, E2.
        destruct Sh as [E _]. simpl in E. rewrite <- E. f_equal. destruct Tl as [T _]. now symmetry. }
      split; [apply le_trans with (cost * b); [now apply le_mul | exact C2] |].
      set (zs' := carried (S i) (fst (step i y1 z)) (fst (step i y2 z')) zs) in *. cbn [weight].
      set (v := weigh Q (S i) (fst (step i y2 z')) zs') in *. set (u := weigh P (S i) (fst (step i y1 z)) zs) in *.
      assert (V : 0 <= v) by apply weigh_ge0.
      assert (M : 0 <= law i y2 z') by apply law_ge0.
      apply le_trans with (cost * law i y2 z' * (b * v)).
      * apply le_trans with (law i y1 z * (b * v)).
        -- apply le_scale; [apply law_ge0 | exact W].
        -- apply le_by with ((cost * law i y2 z' - law i y1 z) * (b * v)); [ring |].
           apply le_mul; [now apply sub_ge0 | now apply le_mul].
      * apply le_by with ((B s i y1 y2 - cost * b) * (law i y2 z' * v)); [ring |].
        apply le_mul; [now apply sub_ge0 | now apply le_mul].
Qed.

Lemma carried_injective zs : forall zs2 i y1 y2, (i + length zs = n)%nat -> J s i y1 y2 ->
  shows i y1 zs -> shows i y1 zs2 -> carried i y1 y2 zs = carried i y1 y2 zs2 -> zs = zs2.
Proof.
  induction zs as [| z zs IH]; intros [| z2 zs2] i y1 y2 L H Sh Sh2 Eq.
  1: reflexivity.
  1, 2: apply (f_equal (@length Z)) in Eq; rewrite !carried_length in Eq; discriminate.
  assert (L2 : length zs2 = length zs).
  { apply (f_equal (@length Z)) in Eq. rewrite !carried_length in Eq. simpl in Eq. lia. }
  simpl in L. assert (Li : (i < n)%nat) by lia. cbn [carried] in Eq. destruct (waits V1 i y1) eqn:Wa.
  - destruct (begins_head Wa Sh) as (Hd & Po & Tl), (begins_head Wa Sh2) as (_ & Po2 & Tl2).
    destruct (begins Li H Wa Hd) as [Bad | (_ & _ & Next & _)]; [exfalso; apply (Bad z zs Po); [lia | exact Tl] |].
    injection Eq as First Rest.
    destruct (@wait_injective z z2 zs zs2 (S i) _ _ ltac:(lia) Next Po Po2 Tl Tl2 Rest First) as [-> ->]. reflexivity.
  - destruct (head Sh) as [Hd Tl], (head Sh2) as [Hd2 Tl2]. cbv zeta in Eq. injection Eq as First Rest.
    assert (z = z2).
    { apply (separates Li H Wa Hd Hd2); [| | exact First].
      - apply (not_hopeless (zs := zs)); [lia | exact Tl].
      - apply (not_hopeless (zs := zs2)); [lia | exact Tl2]. }
    subst z2. destruct (goes_on Li H Wa Hd) as [Bad | (_ & Next & _)]; [exfalso; apply (Bad zs); [lia | exact Tl] |].
    f_equal. exact (IH zs2 (S i) _ _ ltac:(lia) Next Tl Tl2 Rest). Qed.

(** Theorem. A strategy in which a draw waits, and which costs at most the factor [c], bounds the probability that [o] is told
    and [r] returned. *)
Theorem deferred_bounds_output (c : F) : 0 <= c -> B s 0 x1 x2 <= c -> forall b,
  at_most (weigh Q O x2) (fun zs => length zs = n /\ shows 0 x2 zs) b ->
  at_most (weigh P O x1) (fun zs => length zs = n /\ shows 0 x1 zs) (c * b).
Proof.
  intros C Bound b. apply transport_bounds with (carried 0 x1 x2); [exact C | |].
  - intros zs [L Sh]. destruct (@carried_ok zs 0%nat x1 x2 L (starts s) Sh) as (Sh2 & _ & W).
    split; [split; [now rewrite carried_length | exact Sh2] |].
    eapply le_trans; [exact W |].
    apply le_by with ((c - B s 0 x1 x2) * weigh Q O x2 (carried 0 x1 x2 zs)); [ring |].
    apply le_mul; [now apply sub_ge0 | apply weigh_ge0].
  - intros zs zs2 [L Sh] [L2 Sh2] Eq. exact (@carried_injective zs zs2 0%nat x1 x2 L (starts s) Sh Sh2 Eq). Qed.
End OneOutput.

(** Theorem. So for every set of what is told and returned, with a strategy for each. *)
Theorem deferred_bounds_events (n : nat) x1 x2 (c : F) (Event : list Output -> Returned -> Prop)
    (V1 : list Output -> Returned -> waiting P) (V2 : list Output -> Returned -> waiting Q)
    (s : forall o r, deferred_strategy n o r x1 x2 (V1 o r) (V2 o r)) : 0 <= c ->
  (forall o r, Event o r -> B (s o r) 0 x1 x2 <= c) -> forall b,
  at_most (weigh Q O x2) (fun zs => length zs = n /\ Event (said (@step Q) 0 x2 zs) (returned (reached 0 x2 zs))) b ->
  at_most (weigh P O x1) (fun zs => length zs = n /\ Event (said (@step P) 0 x1 zs) (returned (reached 0 x1 zs))) (c * b).
Proof.
  intros C Bound b.
  pose (st := fun zs => s (said (@step P) 0 x1 zs) (returned (reached 0 x1 zs))).
  pose (T := fun zs => carried (st zs) 0 x1 x2 zs).
  assert (Ok : forall zs, length zs = n ->
    shows (said (@step P) 0 x1 zs) (returned (reached 0 x1 zs)) 0 x2 (T zs) /\ 0 <= B (st zs) 0 x1 x2 /\
    weigh P O x1 zs <= B (st zs) 0 x1 x2 * weigh Q O x2 (T zs)).
  { intros zs L. apply carried_ok; [exact L | apply starts | now split]. }
  apply transport_bounds with T; [exact C | |].
  - intros zs [L E]. destruct (Ok zs L) as ([Sa Re] & _ & W). simpl in Sa. split.
    + split; [unfold T; now rewrite carried_length | now rewrite Sa, Re].
    + eapply le_trans; [exact W |].
      apply le_by with ((c - B (st zs) 0 x1 x2) * weigh Q O x2 (T zs)); [ring |].
      apply le_mul; [apply sub_ge0; now apply Bound | apply weigh_ge0].
  - intros zs zs2 [L _] [L2 _] Eq.
    destruct (Ok zs L) as ([Sa Re] & _), (Ok zs2 L2) as ([Sa2 Re2] & _). simpl in Sa, Sa2.
    assert (Same : said (@step P) 0 x1 zs2 = said (@step P) 0 x1 zs) by (rewrite <- Sa, <- Sa2; now rewrite Eq).
    assert (Same2 : returned (reached 0 x1 zs2) = returned (reached 0 x1 zs)) by (rewrite <- Re, <- Re2; now rewrite Eq).
    unfold T, st in Eq. rewrite Same, Same2 in Eq.
    apply (@carried_injective n _ _ x1 x2 _ _ (st zs) zs zs2 0%nat x1 x2);
      [exact L | apply starts | now split | now split | exact Eq]. Qed.
End Deferred.

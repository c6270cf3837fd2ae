(** * Budgets by a coupling of two runs, for every length

    Two runs make draws, one after the other: integers with any laws, such as two-sided geometric ones. A strategy shifts
    each draw of the first run, as a function of where the two runs are. If the shifted draws make the second run say what
    the first says, and no two draws that say the same are shifted to one, then what the shifts cost bounds the
    probability of every output, and of every set of outputs.

    Draws may be infinitely many. The probability of a set of sequences of draws is the least upper bound of the sums
    over its finite parts, so [at_most w E b] says that it is at most b, without a limit or an axiom about one. *)

From Coq Require Import ZArith List Bool Field Lia.
From Bisimdist Require Import OrderedField.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Section Coupling.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.

(** ** Sums over finite parts *)

Section Sums.
Variable D : Type.

Fixpoint sum (w : D -> F) (A : list D) : F := match A with [] => 0 | a :: A' => w a + sum w A' end.

Definition at_most (w : D -> F) (E : D -> Prop) (b : F) :=
  forall A, NoDup A -> (forall a, In a A -> E a) -> sum w A <= b.

(** Theorem. Let a map carry E into E', without carrying two to one, and let weights fall by at most the factor c. Then E has at
    most c times the probability of E'. *)
Theorem transport_bounds (w w' : D -> F) (E E' : D -> Prop) (T : D -> D) (c b : F) : 0 <= c ->
  (forall a, E a -> E' (T a) /\ w a <= c * w' (T a)) -> (forall a a', E a -> E a' -> T a = T a' -> a = a') ->
  at_most w' E' b -> at_most w E (c * b).
Proof.
  intros C S Inj B A N I.
  apply le_trans with (c * sum w' (map T A)).
  - clear N B. induction A as [| a A IH]; simpl.
    + apply le_by with (0 : F); [ring | apply le_refl].
    + apply le_trans with (c * w' (T a) + c * sum w' (map T A)).
      * apply le_add2; [apply S, I; now left | apply IH; intros; apply I; now right].
      * apply le_by with (0 : F); [ring | apply le_refl].
  - apply le_scale; [exact C |]. apply B.
    + clear B. induction A as [| a A IH]; simpl; constructor.
      * intro M. apply in_map_iff in M; destruct M as (a' & Eq & M). inversion N as [| x y Out N']; subst.
        apply Out. replace a with a'; [exact M |]. apply Inj; [apply I; now right | apply I; now left | exact Eq].
      * inversion N; subst. apply IH; [assumption | intros; apply I; now right].
    + intros a' M. apply in_map_iff in M; destruct M as (a & <- & M). now apply S, I.
Qed.
End Sums.

(** ** Two runs *)

Variables X1 X2 Output : Type.
Variable law1 : nat -> X1 -> Z -> F.  (* the law of the draw at a step, in a state *)
Variable law2 : nat -> X2 -> Z -> F.
Variable step1 : nat -> X1 -> Z -> X1 * Output.  (* the next state, and what is seen *)
Variable step2 : nat -> X2 -> Z -> X2 * Output.
Hypothesis law1_ge0 : forall i x z, 0 <= law1 i x z.
Hypothesis law2_ge0 : forall i x z, 0 <= law2 i x z.

Fixpoint weight X (law : nat -> X -> Z -> F) (step : nat -> X -> Z -> X * Output) i x (zs : list Z) : F :=
  match zs with [] => 1 | z :: zs' => law i x z * weight law step (S i) (fst (step i x z)) zs' end.

Fixpoint said X (step : nat -> X -> Z -> X * Output) i x (zs : list Z) : list Output :=
  match zs with [] => [] | z :: zs' => snd (step i x z) :: said step (S i) (fst (step i x z)) zs' end.

Lemma weight2_ge0 zs : forall i x, 0 <= weight law2 step2 i x zs.
Proof. induction zs as [| z zs IH]; intros i x; simpl; [apply one_ge0 | now apply le_mul]. Qed.

(** What a strategy has to obey, for an output [o] of [n] parts: [J] is an invariant of the two runs, [B] what the rest
    costs at most, as a factor, and [lost] are states from which the first run does not say the rest of [o]. *)
Record strategy (n : nat) (o : list Output) (x1 : X1) (x2 : X2) := {
  shift : nat -> X1 -> X2 -> Z -> Z;
  J : nat -> X1 -> X2 -> Prop;
  lost : nat -> X1 -> Prop;
  B : nat -> X1 -> X2 -> F;
  starts : J 0 x1 x2;
  ends : forall y1 y2, J n y1 y2 -> 1 <= B n y1 y2;
  stays_lost : forall i y1 z, (i < n)%nat -> lost i y1 -> nth_error o i = Some (snd (step1 i y1 z)) ->
    lost (S i) (fst (step1 i y1 z));
  lost_in_the_end : forall y1, ~ lost n y1;
  goes_on : forall i y1 y2 z, (i < n)%nat -> J i y1 y2 -> nth_error o i = Some (snd (step1 i y1 z)) ->
    let z' := (z + shift i y1 y2 z)%Z in
    let next1 := fst (step1 i y1 z) in
    let next2 := fst (step2 i y2 z') in
    lost (S i) next1 \/
    snd (step2 i y2 z') = snd (step1 i y1 z) /\ J (S i) next1 next2 /\
    exists cost, 0 <= cost /\ law1 i y1 z <= cost * law2 i y2 z' /\ cost * B (S i) next1 next2 <= B i y1 y2;
  separates : forall i y1 y2 z z', (i < n)%nat -> J i y1 y2 ->
    nth_error o i = Some (snd (step1 i y1 z)) -> nth_error o i = Some (snd (step1 i y1 z')) ->
    ~ lost (S i) (fst (step1 i y1 z)) -> ~ lost (S i) (fst (step1 i y1 z')) ->
    (z + shift i y1 y2 z = z' + shift i y1 y2 z')%Z -> z = z'
}.

Section OneOutput.
Variables (n : nat) (o : list Output) (x1 : X1) (x2 : X2).
Variable s : strategy n o x1 x2.

Fixpoint shifted i y1 y2 (zs : list Z) : list Z :=
  match zs with
  | [] => []
  | z :: zs' =>
      let z' := (z + shift s i y1 y2 z)%Z in
      z' :: shifted (S i) (fst (step1 i y1 z)) (fst (step2 i y2 z')) zs'
  end.

Lemma shifted_length zs : forall i y1 y2, length (shifted i y1 y2 zs) = length zs.
Proof. induction zs; intros; simpl; congruence. Qed.

Lemma head i y1 z zs : said step1 i y1 (z :: zs) = skipn i o ->
  nth_error o i = Some (snd (step1 i y1 z)) /\ said step1 (S i) (fst (step1 i y1 z)) zs = skipn (S i) o.
Proof.
  simpl. generalize (snd (step1 i y1 z)) as a, (said step1 (S i) (fst (step1 i y1 z)) zs) as l. clear.
  revert o; induction i as [| i IH]; intros [| b o] a l E; simpl in *; try discriminate.
  - now inversion E.
  - destruct (IH o a l E) as [H K]. split; [exact H |]. now rewrite K. Qed.

Lemma not_lost zs : forall i y1, (i + length zs = n)%nat -> said step1 i y1 zs = skipn i o -> ~ lost s i y1.
Proof.
  induction zs as [| z zs IH]; intros i y1 L E N; simpl in L.
  - replace i with n in N by lia. now apply lost_in_the_end in N.
  - destruct (head E) as [Hd Tl]. apply (IH (S i) _ ltac:(lia) Tl). apply stays_lost; [lia | exact N | exact Hd]. Qed.

Lemma shifted_ok zs : forall i y1 y2, (i + length zs = n)%nat -> J s i y1 y2 -> said step1 i y1 zs = skipn i o ->
  said step2 i y2 (shifted i y1 y2 zs) = said step1 i y1 zs /\ 0 <= B s i y1 y2 /\
  weight law1 step1 i y1 zs <= B s i y1 y2 * weight law2 step2 i y2 (shifted i y1 y2 zs).
Proof.
  induction zs as [| z zs IH]; intros i y1 y2 L H E; simpl in L.
  - replace i with n in * by lia. pose proof (ends H) as K. simpl.
    split; [reflexivity |]. split; [apply le_trans with (1 : F); [apply one_ge0 | exact K] |].
    apply le_by with (B s n y1 y2 - 1); [ring | now apply sub_ge0].
  - destruct (head E) as [Hd Tl]. assert (Li : (i < n)%nat) by lia.
    destruct (goes_on Li H Hd) as [Bad | (Same & Next & cost & C0 & C1 & C2)].
    { exfalso. apply (@not_lost zs (S i) (fst (step1 i y1 z))); [lia | exact Tl | exact Bad]. }
    destruct (IH (S i) _ _ ltac:(lia) Next Tl) as (Said & B0 & W).
    set (z' := (z + shift s i y1 y2 z)%Z) in *.
    set (b := B s (S i) (fst (step1 i y1 z)) (fst (step2 i y2 z'))) in *.
    split; [cbn [shifted said]; fold z'; now rewrite Same, Said |].
    split; [apply le_trans with (cost * b); [now apply le_mul | exact C2] |].
    cbn [shifted weight]. fold z'.
    set (v := weight law2 step2 (S i) _ _) in *. set (u := weight law1 step1 (S i) _ zs) in *.
    assert (V : 0 <= v) by apply weight2_ge0.
    assert (M : 0 <= law2 i y2 z') by apply law2_ge0.
    apply le_trans with (cost * law2 i y2 z' * (b * v)).
    + apply le_trans with (law1 i y1 z * (b * v)).
      * apply le_scale; [apply law1_ge0 | exact W].
      * apply le_by with ((cost * law2 i y2 z' - law1 i y1 z) * (b * v)); [ring |].
        apply le_mul; [now apply sub_ge0 | now apply le_mul].
    + apply le_by with ((B s i y1 y2 - cost * b) * (law2 i y2 z' * v)); [ring |].
      apply le_mul; [now apply sub_ge0 | now apply le_mul].
Qed.

Lemma shifted_injective zs : forall zs' i y1 y2, (i + length zs = n)%nat -> J s i y1 y2 ->
  said step1 i y1 zs = skipn i o -> said step1 i y1 zs' = skipn i o ->
  shifted i y1 y2 zs = shifted i y1 y2 zs' -> zs = zs'.
Proof.
  induction zs as [| z zs IH]; intros [| z' zs'] i y1 y2 L H E E' Eq; try discriminate; [reflexivity |].
  cbn [shifted] in Eq; injection Eq as First Rest. simpl in L.
  assert (L' : length zs' = length zs) by (apply (f_equal (@length Z)) in Rest; now rewrite !shifted_length in Rest).
  destruct (head E) as [Hd Tl], (head E') as [Hd' Tl'].
  assert (N : ~ lost s (S i) (fst (step1 i y1 z))) by (apply (not_lost (zs := zs)); [lia | exact Tl]).
  assert (N' : ~ lost s (S i) (fst (step1 i y1 z'))) by (apply (not_lost (zs := zs')); [lia | exact Tl']).
  assert (z = z') by (apply (@separates _ _ _ _ s i y1 y2); [lia | exact H | exact Hd | exact Hd' | exact N | exact N' | exact First]).
  subst z'. f_equal. assert (Li : (i < n)%nat) by lia.
  destruct (goes_on Li H Hd) as [Bad | (_ & Next & _)]; [now destruct N |].
  apply (IH zs' (S i) _ _ ltac:(lia) Next Tl Tl' Rest). Qed.

End OneOutput.

(** Theorem. Strategies for all outputs that cost at most the factor [c] bound the probability of every set of outputs of
    [n] parts. The second run says them with at most [b]; so the first one with at most [c * b]. *)
Theorem coupling_bounds_events (n : nat) x1 x2 (c : F) (Event : list Output -> Prop)
    (s : forall o, strategy n o x1 x2) : 0 <= c ->
  (forall o, Event o -> B (s o) 0 x1 x2 <= c) -> forall b,
  at_most (weight law2 step2 0 x2) (fun zs => length zs = n /\ Event (said step2 0 x2 zs)) b ->
  at_most (weight law1 step1 0 x1) (fun zs => length zs = n /\ Event (said step1 0 x1 zs)) (c * b).
Proof.
  intros C Bound b. pose (T := fun zs => shifted (s (said step1 0 x1 zs)) 0 x1 x2 zs).
  assert (Ok : forall zs, length zs = n -> said step2 0 x2 (T zs) = said step1 0 x1 zs /\ 0 <= B (s (said step1 0 x1 zs)) 0 x1 x2 /\
    weight law1 step1 0 x1 zs <= B (s (said step1 0 x1 zs)) 0 x1 x2 * weight law2 step2 0 x2 (T zs)).
  { intros zs L. apply shifted_ok; [exact L | apply starts | reflexivity]. }
  apply transport_bounds with T; [exact C | |].
  - intros zs [L E]. destruct (Ok zs L) as (Said & _ & W). split.
    + split; [unfold T; now rewrite shifted_length | now rewrite Said].
    + eapply le_trans; [exact W |].
      apply le_by with ((c - B (s (said step1 0 x1 zs)) 0 x1 x2) * weight law2 step2 0 x2 (T zs)); [ring |].
      apply le_mul; [apply sub_ge0; now apply Bound | apply weight2_ge0].
  - intros zs zs' [L _] [L' _] Eq.
    assert (Same : said step1 0 x1 zs' = said step1 0 x1 zs).
    { rewrite <- (proj1 (Ok zs L)), <- (proj1 (Ok zs' L')). now rewrite Eq. }
    unfold T in Eq. rewrite Same in Eq.
    apply (@shifted_injective n (said step1 0 x1 zs) x1 x2 (s _) zs zs' 0 x1 x2);
      [exact L | apply starts | reflexivity | exact Same | exact Eq]. Qed.

(** Theorem. So for one output; of the two budgets of a pair the other is that of the runs in the other order. *)
Theorem coupling_bounds_output (n : nat) x1 x2 (c : F) o (s : strategy n o x1 x2) : 0 <= c -> B s 0 x1 x2 <= c -> forall b,
  at_most (weight law2 step2 0 x2) (fun zs => length zs = n /\ said step2 0 x2 zs = o) b ->
  at_most (weight law1 step1 0 x1) (fun zs => length zs = n /\ said step1 0 x1 zs = o) (c * b).
Proof.
  intros C Bound b.
  assert (Ok : forall zs, length zs = n -> said step1 0 x1 zs = o -> said step2 0 x2 (shifted s 0 x1 x2 zs) = said step1 0 x1 zs /\
    0 <= B s 0 x1 x2 /\ weight law1 step1 0 x1 zs <= B s 0 x1 x2 * weight law2 step2 0 x2 (shifted s 0 x1 x2 zs)).
  { intros zs L E. apply shifted_ok; [exact L | apply starts | exact E]. }
  apply transport_bounds with (shifted s 0 x1 x2); [exact C | |].
  - intros zs [L E]. destruct (Ok zs L E) as (Said & _ & W). split.
    + split; [now rewrite shifted_length | now rewrite Said].
    + eapply le_trans; [exact W |].
      apply le_by with ((c - B s 0 x1 x2) * weight law2 step2 0 x2 (shifted s 0 x1 x2 zs)); [ring |].
      apply le_mul; [now apply sub_ge0 | apply weight2_ge0].
  - intros zs zs' [L E] [L' E'] Eq.
    apply (@shifted_injective n o x1 x2 s zs zs' 0 x1 x2); [exact L | apply starts | exact E | exact E' | exact Eq]. Qed.

(** ** Costs that are exponents *)

Fixpoint power (c : F) (k : nat) : F := match k with O => 1 | S k' => c * power c k' end.

Lemma power_add c j k : power c (j + k) = power c j * power c k.
Proof. induction j; simpl; [ring | rewrite IHj; ring]. Qed.

Lemma power_ge0 c k : 0 <= c -> 0 <= power c k.
Proof. intro H; induction k; simpl; [apply one_ge0 | now apply le_mul]. Qed.

Lemma power_ge1 c k : 1 <= c -> 1 <= power c k.
Proof. intro H; assert (Z0 : 0 <= c) by (apply le_trans with (1 : F); [apply one_ge0 | exact H]).
  induction k; simpl; [apply le_refl |]. apply le_trans with (c * 1).
  - apply le_by with (c - 1); [ring | now apply sub_ge0].
  - now apply le_scale. Qed.

Lemma power_mono c j k : 1 <= c -> (j <= k)%nat -> power c j <= power c k.
Proof. intros H L. replace k with (j + (k - j))%nat by lia. rewrite power_add.
  assert (Z0 : 0 <= c) by (apply le_trans with (1 : F); [apply one_ge0 | exact H]).
  apply le_by with (power c j * (power c (k - j) - 1)); [ring |].
  apply le_mul; [now apply power_ge0 | apply sub_ge0; now apply power_ge1]. Qed.

Lemma power_anti r j k : 0 <= r -> r <= 1 -> (j <= k)%nat -> power r k <= power r j.
Proof. intros H H1 L. induction L as [| k L IH]; [apply le_refl |]. simpl.
  eapply le_trans; [| exact IH]. apply le_by with ((1 - r) * power r k); [ring |].
  apply le_mul; [now apply sub_ge0 | now apply power_ge0]. Qed.

(** With [B] a power of the base, the condition on costs is one on exponents: what this draw costs and what the rest costs is
    at most what was left. *)
Lemma exponents c e k k' p q : 1 <= c -> p <= power c e * q -> (e + k' <= k)%nat ->
  exists cost, 0 <= cost /\ p <= cost * q /\ cost * power c k' <= power c k.
Proof. intros H P L. exists (power c e).
  assert (Z0 : 0 <= c) by (apply le_trans with (1 : F); [apply one_ge0 | exact H]).
  split; [now apply power_ge0 |]. split; [exact P |]. rewrite <- power_add. now apply power_mono. Qed.

(** A law of integers that falls by at most the factor [c] with each step of one. *)
Definition slow (c : F) (p : Z -> F) := forall z k, p z <= power c (Z.to_nat (Z.abs k)) * p (z + k)%Z.

(** Two-sided geometric laws with ratio [r], whatever their normalisation. *)
Theorem two_sided_geometric_slow r c m : 0 <= r -> r <= 1 -> c * r = 1 -> 0 <= c -> 0 <= m ->
  slow c (fun z => m * power r (Z.to_nat (Z.abs z))).
Proof.
  intros R R1 CR C M z k.
  assert (E : forall j, power c j * power r j = 1).
  { induction j as [| j IH]; simpl; [ring |].
    replace (c * power c j * (r * power r j)) with ((c * r) * (power c j * power r j)) by ring. rewrite CR, IH; ring. }
  set (a := Z.to_nat (Z.abs z)). set (j := Z.to_nat (Z.abs k)). set (b := Z.to_nat (Z.abs (z + k))).
  assert (L : (b <= a + j)%nat) by (unfold a, b, j; lia).
  apply le_by with (m * power c j * (power r b - power r (a + j))).
  - rewrite power_add. transitivity (m * power c j * power r b - m * power r a * (power c j * power r j)); [rewrite E; ring | ring].
  - apply le_mul; [apply le_mul; [exact M | now apply power_ge0] | apply sub_ge0; now apply power_anti]. Qed.
End Coupling.

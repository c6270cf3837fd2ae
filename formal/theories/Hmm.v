(** * Budgets of hidden Markov models (docs/theory/hmm.md and docs/theory/hmm-proofs.md)

    States and observations are numbers. A vector is a formal combination of states. *)

From Coq Require Import ZArith QArith List Bool Field Lia Lqa.
From Bisimdist Require Import OrderedField Combination.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

Record hmm := {
  steps_from : positive -> list (positive * Q);  (* a state without steps ends the sequence *)
  observes : positive -> positive -> Q  (* by state and observation *)
}.

(** Rule H2, as far as it is needed: nothing is negative. *)
Definition hmm_ok (H : hmm) := forall s,
  (forall t q, In (t, q) (steps_from H s) -> (0 <= q)%Q) /\ forall x, (0 <= observes H s x)%Q.

(** The vector after one step and the observation [x], and the part of a vector that observes [x]. *)
Definition stepped (H : hmm) (v : list (positive * Q)) (x : positive) : list (positive * Q) :=
  flat_map (fun e : positive * Q => map (fun t : positive * Q => (fst t, Qred (snd e * (snd t * observes H (fst t) x)))) (steps_from H (fst e))) v.
Definition observed (H : hmm) (v : list (positive * Q)) (x : positive) : list (positive * Q) :=
  map (fun e : positive * Q => (fst e, Qred (snd e * observes H (fst e) x))) v.
Definition moved (H : hmm) (v : list (positive * Q)) : list (positive * Q) :=
  flat_map (fun e : positive * Q => scale (snd e) (steps_from H (fst e))) v.

Section Hmm.
Variable F : OrderedField.
Add Field F_field : (field_ok F).
Local Open Scope field_scope.
Variable H : hmm.
Hypothesis H_ok : hmm_ok H.
Implicit Types (v pi tau : list (positive * Q)) (f : positive -> F) (w : list positive).

(** [before w f s]: the state s is left, w is observed, and f is what then counts. *)
Fixpoint before w f (s : positive) : F :=
  match w with
  | [] => f s
  | x :: w' => eval (steps_from H s) (fun t => ofQ (observes H t x) * before w' f t)
  end.

(** The probability of w after the state s has been left. *)
Definition after_leaving w s := before w (fun _ => 1) s.

(** The probability of w from s on. *)
Definition from w s : F := match w with [] => 1 | x :: w' => ofQ (observes H s x) * after_leaving w' s end.

(** The probability of w from a distribution, or what it counts for a signed vector. *)
Definition probability_of pi w : F := eval pi (from w).

Lemma before_ge0 w f : (forall s, 0 <= f s) -> forall s, 0 <= before w f s.
Proof. intro Hf; induction w as [| x w IH]; intro s; simpl; [apply Hf |]. destruct (H_ok s) as [P _].
  apply eval_ge0; [exact P |]. intros t q I. apply le_mul; [apply ofQ_ge0, (proj2 (H_ok t)) | apply IH]. Qed.

Lemma after_leaving_ge0 w s : 0 <= after_leaving w s.
Proof. apply before_ge0; intros; apply one_ge0. Qed.

Lemma from_ge0 w s : 0 <= from w s.
Proof. destruct w; simpl; [apply one_ge0 |]. apply le_mul; [apply ofQ_ge0, (proj2 (H_ok s)) | apply after_leaving_ge0]. Qed.

Lemma before_app w w' f s : before (w ++ w') f s = before w (before w' f) s.
Proof. revert s; induction w as [| x w IH]; intro s; simpl; [reflexivity |]. apply eval_ext; intros; now rewrite IH. Qed.

Lemma before_ext w f g : (forall s, f s = g s) -> forall s, before w f s = before w g s.
Proof. intro E; induction w as [| x w IH]; intro s; simpl; [apply E |]. apply eval_ext; intros; now rewrite IH. Qed.

Lemma leaving_from x w s : after_leaving (x :: w) s = eval (steps_from H s) (from (x :: w)).
Proof. reflexivity. Qed.

Lemma eval_stepped v x f : eval (stepped H v x) f = eval v (fun s => eval (steps_from H s) (fun t => ofQ (observes H t x) * f t)).
Proof. induction v as [| [s q] v IH]; simpl; [reflexivity |]. rewrite eval_app, IH.
  f_equal. generalize (steps_from H s) as l; induction l as [| [t p] l IHl]; simpl; [ring |].
  rewrite IHl, (ofQ_eq F (Qred_correct _)), !ofQ_mul; ring. Qed.

Lemma eval_observed v x f : eval (observed H v x) f = eval v (fun s => ofQ (observes H s x) * f s).
Proof. induction v as [| [s q] v IH]; simpl; [reflexivity |]. rewrite IH, (ofQ_eq F (Qred_correct _)), ofQ_mul; ring. Qed.

Lemma eval_moved v f : eval (moved H v) f = eval v (fun s => eval (steps_from H s) f).
Proof. induction v as [| [s q] v IH]; simpl; [reflexivity |]. now rewrite eval_app, eval_scale, IH. Qed.

(** ** Budgets at a length: layers of vectors (rules L2 to L4 of docs/certificates/hmm.md)

    A state is live if so many more steps can be made. What is multiplied by 0 later on is left out. *)
Fixpoint live (n : nat) (s : positive) : bool :=
  match n with
  | O => true
  | S n' => existsb (fun e : positive * Q => live n' (fst e)) (steps_from H s)
  end.

Lemma dead_zero w s : live (length w) s = false -> forall x, from (x :: w) s = 0.
Proof.
  intros D x; simpl. assert (Z : after_leaving w s = 0); [| rewrite Z; ring].
  revert s D; induction w as [| y w IH]; intros s D; [easy |]. simpl in D. rewrite leaving_from.
  rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring |]. intros t q I.
  simpl; rewrite IH; [ring |]. destruct (live (length w) t) eqn:E; [| reflexivity].
  exfalso; rewrite <- not_true_iff_false in D; apply D, existsb_exists; now exists (t, q). Qed.

Definition on_live (n : nat) v := filter (fun e : positive * Q => live n (fst e)) v.

Lemma eval_on_live v x w : eval (on_live (length w) v) (from (x :: w)) = eval v (from (x :: w)).
Proof. induction v as [| [s q] v IH]; cbn [on_live filter fst]; [reflexivity |]. fold (on_live (length w) v).
  destruct (live (length w) s) eqn:E; cbn [eval]; rewrite IH; [reflexivity |]. rewrite (@dead_zero w s E x); ring. Qed.

(** lambda times a vector, less v, times the denominator of lambda: what is whole stays whole. *)
Definition excess v (lambda : Q) v' := scale (inject_Z (Qnum lambda)) v' ++ scale (- inject_Z (Zpos (Qden lambda))) v.

Lemma excess_ok v lambda v' f : 0 <= eval (excess v lambda v') f -> eval v f <= ofQ lambda * eval v' f.
Proof.
  unfold excess. rewrite eval_app, !eval_scale, ofQ_opp. intro B.
  assert (E : (inject_Z (Qnum lambda) * (1 # Qden lambda) == lambda)%Q)
    by (destruct lambda as [a b]; unfold inject_Z, Qmult, Qeq; simpl; lia).
  assert (D : (inject_Z (Zpos (Qden lambda)) * (1 # Qden lambda) == 1)%Q) by (unfold inject_Z, Qmult, Qeq; simpl; lia).
  apply (ofQ_eq F) in E; apply (ofQ_eq F) in D. rewrite ofQ_mul in E, D. rewrite ofQ_1 in D.
  apply le_by with (ofQ (1 # Qden lambda) * (ofQ (inject_Z (Qnum lambda)) * eval v' f + - ofQ (inject_Z (Zpos (Qden lambda))) * eval v f)).
  - rewrite <- E. transitivity (ofQ (inject_Z (Qnum lambda)) * ofQ (1 # Qden lambda) * eval v' f
      - ofQ (inject_Z (Zpos (Qden lambda))) * ofQ (1 # Qden lambda) * eval v f); [rewrite D; ring | ring].
  - apply le_mul; [apply ofQ_ge0; easy | exact B]. Qed.

(** v is at most lambda times a vector, on the states from which n more steps can be made. *)
Definition below (n : nat) v (lambda : Q) v' := all_ge0 (on_live n (excess v lambda v')) = true.

Lemma below_ok n v lambda v' x w : length w = n -> below n v lambda v' ->
  eval v (from (x :: w)) <= ofQ lambda * eval v' (from (x :: w)).
Proof. intros <- B. apply all_ge0_ok with (f := from (x :: w)) in B; [| intros; apply from_ge0].
  rewrite eval_on_live in B. now apply excess_ok. Qed.

Variable observations : list positive.

(** n more steps are to be made from the first layer on; [next] are the layers behind it. *)
Fixpoint layers_ok (layer : list (list (positive * Q))) (next : list (list (list (positive * Q)))) : Prop :=
  match next with
  | [] => forall v x, In v layer -> In x observations -> (total (observed H v x) <= 0)%Q
  | layer' :: next' =>
      (forall v x, In v layer -> In x observations ->
         let m := moved H (observed H v x) in
         below (length next') m 0 [] \/
         exists v' lambda, In v' layer' /\ (0 <= lambda)%Q /\ below (length next') m lambda v') /\
      layers_ok layer' next'
  end.

Lemma layers_bound next : forall layer, layers_ok layer next ->
  forall v w, In v layer -> length w = S (length next) -> (forall x, In x w -> In x observations) -> eval v (from w) <= 0.
Proof.
  induction next as [| layer' next IH]; intros layer L v w Iv Len Ob.
  - destruct w as [| x [|]]; try easy. simpl in L. assert (Ix : In x observations) by (apply Ob; now left).
    specialize (L v x Iv Ix). simpl. apply (ofQ_le F) in L; rewrite ofQ_0 in L.
    rewrite (eval_ext (g := fun s => ofQ (observes H s x) * 1)); [| reflexivity].
    rewrite <- eval_observed, eval_const. eapply le_trans; [| exact L]. apply le_by with (0 : F); [ring | apply le_refl].
  - destruct w as [| x [| y w]]; try easy. destruct L as [Step L].
    assert (Ix : In x observations) by (apply Ob; now left). specialize (Step v x Iv Ix).
    assert (E : eval v (from (x :: y :: w)) = eval (moved H (observed H v x)) (from (y :: w))).
    { rewrite eval_moved, eval_observed. apply eval_ext; intros; reflexivity. }
    rewrite E. assert (Len' : length w = length next) by (simpl in Len; lia).
    cbv zeta in Step. destruct Step as [B | (v' & lambda & Iv' & L0 & B)].
    + eapply le_trans; [exact (below_ok y Len' B) |]. rewrite ofQ_0; simpl. apply le_by with (0 : F); [ring | apply le_refl].
    + eapply le_trans; [exact (below_ok y Len' B) |].
      assert (N : eval v' (from (y :: w)) <= 0).
      { apply (IH layer' L v' (y :: w) Iv'); [simpl; lia |]. intros z I; apply Ob; now right. }
      apply le_by with (ofQ lambda * (0 - eval v' (from (y :: w)))); [ring |].
      apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]. Qed.

(** Theorem. The layers prove a budget for every sequence of the length, in one direction. *)
Theorem layers_prove_budget pi tau c first layer next start : layers_ok layer next -> In first layer ->
  (0 <= start)%Q -> below (length next) (pi ++ scale (- c) tau) start first ->
  forall w, length w = S (length next) -> (forall x, In x w -> In x observations) ->
  probability_of pi w <= ofQ c * probability_of tau w.
Proof.
  intros L I S0 B w Len Ob. unfold probability_of. destruct w as [| x w]; [easy |].
  assert (Len' : length w = length next) by (simpl in Len; lia).
  pose proof (below_ok x Len' B) as K. rewrite eval_app, eval_scale, ofQ_opp in K.
  pose proof (layers_bound L I Len Ob) as N.
  set (p := eval pi _) in *; set (t := eval tau _) in *; set (z := eval first _) in *.
  apply le_by with ((ofQ start * z - (p + - ofQ c * t)) + ofQ start * (0 - z)); [ring |].
  apply add_ge0; [now apply sub_ge0 | apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]]. Qed.

(** With [up_to], for shorter sequences too: all states count, and every layer is one that may be the last. *)
Definition below_everywhere v (lambda : Q) v' := all_ge0 (excess v lambda v') = true.

Lemma below_everywhere_ok v lambda v' w : below_everywhere v lambda v' -> eval v (from w) <= ofQ lambda * eval v' (from w).
Proof. intro B. apply all_ge0_ok with (f := from w) in B; [| intros; apply from_ge0]. now apply excess_ok. Qed.

Fixpoint layers_ok_up_to (layer : list (list (positive * Q))) (next : list (list (list (positive * Q)))) : Prop :=
  (forall v x, In v layer -> In x observations -> (total (observed H v x) <= 0)%Q) /\
  match next with
  | [] => True
  | layer' :: next' =>
      (forall v x, In v layer -> In x observations ->
         let m := moved H (observed H v x) in
         below_everywhere m 0 [] \/
         exists v' lambda, In v' layer' /\ (0 <= lambda)%Q /\ below_everywhere m lambda v') /\
      layers_ok_up_to layer' next'
  end.

Theorem layers_prove_budget_up_to pi tau c first layer next start : layers_ok_up_to layer next -> In first layer ->
  (0 <= start)%Q -> below_everywhere (pi ++ scale (- c) tau) start first ->
  forall w, w <> [] -> (length w <= S (length next))%nat -> (forall x, In x w -> In x observations) ->
  probability_of pi w <= ofQ c * probability_of tau w.
Proof.
  intros L I S0 B w Nw Len Ob.
  assert (Bound : forall w next layer v, layers_ok_up_to layer next -> In v layer -> w <> [] ->
    (length w <= S (length next))%nat -> (forall x, In x w -> In x observations) -> eval v (from w) <= 0).
  { clear - H_ok. intro w; induction w as [| x w IH]; intros next layer v L Iv N Len Ob; [easy |].
    assert (Ix : In x observations) by (apply Ob; now left).
    destruct w as [| y w].
    - assert (L0 : (total (observed H v x) <= 0)%Q) by (destruct next; now apply L).
      apply (ofQ_le F) in L0; rewrite ofQ_0 in L0.
      change (from [x]) with (fun s => ofQ (observes H s x) * (1 : F)). rewrite <- eval_observed, eval_const.
      eapply le_trans; [| exact L0]. apply le_by with (0 : F); [ring | apply le_refl].
    - destruct next as [| layer' next]; [simpl in Len; lia |]. destruct L as (_ & Step & L').
      assert (E : eval v (from (x :: y :: w)) = eval (moved H (observed H v x)) (from (y :: w)))
        by (rewrite eval_moved, eval_observed; apply eval_ext; intros; reflexivity).
      rewrite E. destruct (Step v x Iv Ix) as [Bm | (v' & lambda & Iv' & L0 & Bm)].
      + eapply le_trans; [exact (below_everywhere_ok (y :: w) Bm) |]. rewrite ofQ_0; simpl. apply le_by with (0 : F); [ring | apply le_refl].
      + eapply le_trans; [exact (below_everywhere_ok (y :: w) Bm) |].
        assert (Nv : eval v' (from (y :: w)) <= 0).
        { apply (IH next layer' v' L' Iv'); [easy | simpl in *; lia |]. intros z J; apply Ob; now right. }
        apply le_by with (ofQ lambda * (0 - eval v' (from (y :: w)))); [ring |].
        apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]. }
  pose proof (below_everywhere_ok w B) as K. rewrite eval_app, eval_scale, ofQ_opp in K.
  pose proof (Bound w next layer first L I Nw Len Ob) as Nf. unfold probability_of.
  set (p := eval pi _) in *; set (t := eval tau _) in *; set (z := eval first _) in *.
  apply le_by with ((ofQ start * z - (p + - ofQ c * t)) + ofQ start * (0 - z)); [ring |].
  apply add_ge0; [now apply sub_ge0 | apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0]]. Qed.

(** ** All lengths: a cone (rules I1 to I4 of docs/certificates/hmm-proofs.md) *)
Section Cone.
Variable known : positive -> Prop.  (* the states that the pair can reach *)
Hypothesis known_closed : forall s t q, known s -> In (t, q) (steps_from H s) -> known t.
Variable generators : list (positive -> Q).

Definition conical (l : list (Q * (positive -> Q))) (s : positive) : Q := fold_right (fun e x => fst e * snd e s + x)%Q 0%Q l.
Definition in_cone (l : list (Q * (positive -> Q))) := forall q g, In (q, g) l -> (0 <= q)%Q /\ In g generators.
Definition step_back (x : positive) (g : positive -> Q) (s : positive) : Q := (observes H s x * evalQ (steps_from H s) g)%Q.

Definition cone_ok :=
  (forall x, In x observations -> exists l, in_cone l /\ forall s, known s -> (observes H s x == conical l s)%Q) /\
  (forall x g, In x observations -> In g generators -> exists l, in_cone l /\ forall s, known s -> (step_back x g s == conical l s)%Q).

(** What is not positive at all generators is not positive at what they generate. *)
Definition on_generators v := forall g, In g generators -> (evalQ v g <= 0)%Q.

Lemma eval_conical v l : eval v (fun s => ofQ (conical l s)) = fold_right (fun e x => ofQ (fst e) * ofQ (evalQ v (snd e)) + x) 0 l :> F.
Proof. induction l as [| [q g] l IH]; simpl.
  - rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const; ring | intros; apply ofQ_0].
  - rewrite <- IH, <- (eval_evalQ F), <- eval_mul, <- eval_add. apply eval_ext; intros. now rewrite ofQ_add, ofQ_mul. Qed.

Lemma cone_spans w : cone_ok -> w <> [] -> (forall x, In x w -> In x observations) ->
  exists l, in_cone l /\ forall s, known s -> from w s = ofQ (conical l s).
Proof.
  intros [Starts Steps]. induction w as [| x w IH]; intros N Ob; [easy |].
  assert (Ix : In x observations) by (apply Ob; now left). destruct w as [| y w].
  - destruct (Starts x Ix) as (l & C & E). exists l; split; [assumption |]. intros s K; simpl.
    rewrite <- (ofQ_eq F (E s K)). unfold after_leaving; simpl; ring.
  - destruct IH as (l & C & E); [easy | intros; apply Ob; now right |].
    assert (B : exists l', in_cone l' /\ forall s, known s ->
      ofQ (observes H s x) * eval (steps_from H s) (fun t => ofQ (conical l t)) = (ofQ (conical l' s) : F)).
    { clear E. induction l as [| [q g] l IHl].
      - exists []; split; [intros q g [] |]. intros s K; simpl.
        rewrite (eval_ext (g := fun _ => 0)); [rewrite eval_const, ofQ_0; ring | intros; apply ofQ_0].
      - destruct IHl as (l1 & C1 & E1); [intros q' g' I; apply C; now right |].
        destruct (C q g (or_introl eq_refl)) as [Q0 Ig]. destruct (Steps x g Ix Ig) as (l2 & C2 & E2).
        exists (map (fun e => (q * fst e, snd e)%Q) l2 ++ l1); split.
        + intros q' g' I; apply in_app_iff in I; destruct I as [I | I]; [| now apply C1].
          apply in_map_iff in I; destruct I as ([q2 g2] & Eq & I); injection Eq as <- <-. destruct (C2 q2 g2 I); split; [now apply Qmult_le_0_compat | assumption].
        + intros s K. specialize (E1 s K). specialize (E2 s K).
          assert (Sum : forall m, (conical (map (fun e => (q * fst e, snd e)%Q) m ++ l1) s == q * conical m s + conical l1 s)%Q).
          { induction m as [| [q' g'] m IHm]; simpl; [ring |]. rewrite IHm; ring. }
          rewrite (ofQ_eq F (Sum l2)), ofQ_add, ofQ_mul, <- E1, <- (ofQ_eq F E2). unfold step_back. rewrite ofQ_mul.
          rewrite <- eval_evalQ.
          rewrite (eval_ext (l := steps_from H s) (g := fun t => ofQ q * ofQ (g t) + ofQ (conical l t)))
            by (intros; simpl; now rewrite ofQ_add, ofQ_mul).
          rewrite eval_add, eval_mul; ring. }
    destruct B as (l' & C' & E'). exists l'; split; [assumption |]. intros s K. rewrite <- (E' s K).
    change (from (x :: y :: w) s) with (ofQ (observes H s x) * eval (steps_from H s) (from (y :: w))).
    f_equal. apply eval_ext; intros t q I. apply E. now apply (known_closed K I). Qed.

(** Theorem. A closed cone proves a budget for sequences of every length. *)
Theorem cone_proves_budget pi tau c : cone_ok -> on_generators (pi ++ scale (- c) tau) ->
  (forall s q, In (s, q) pi -> known s) -> (forall s q, In (s, q) tau -> known s) ->
  forall w, w <> [] -> (forall x, In x w -> In x observations) -> probability_of pi w <= ofQ c * probability_of tau w.
Proof.
  intros Co Gen Kp Kt w N Ob. destruct (cone_spans Co N Ob) as (l & C & E).
  assert (V : eval (pi ++ scale (- c) tau) (from w) <= 0).
  { rewrite (eval_ext (g := fun s => ofQ (conical l s))).
    - rewrite eval_conical. clear E. induction l as [| [q g] l IH]; simpl; [apply le_refl |].
      destruct (C q g (or_introl eq_refl)) as [Q0 Ig].
      assert (L : fold_right (fun e x => ofQ (fst e) * ofQ (evalQ (pi ++ scale (- c) tau) (snd e)) + x) 0 l <= (0 : F))
        by (apply IH; intros q' g' I; apply C; now right).
      specialize (Gen g Ig). apply (ofQ_le F) in Gen; rewrite ofQ_0 in Gen.
      match goal with |- ?a * ?b + ?r <= _ => apply le_by with (a * (0 - b) + (0 - r)) end; [ring |].
      apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0] | now apply sub_ge0].
    - intros s q I; apply E. apply in_app_iff in I; destruct I as [I | I]; [now apply (Kp s q) |].
      apply in_map_iff in I; destruct I as ([t p] & Eq & I); injection Eq as <- _; now apply (Kt t p). }
  rewrite eval_app, eval_scale, ofQ_opp in V. unfold probability_of. set (p := eval pi _) in *; set (t := eval tau _) in *.
  apply le_by with (0 - (p + - ofQ c * t)); [ring | now apply sub_ge0]. Qed.
End Cone.

(** ** All lengths: factors (rules F1 to F5) *)
Section Factors.
Variable R : positive -> positive -> option Q.
Definition factor_at (k m : positive) : option Q := if Pos.eqb k m then Some 1%Q else R k m.

(** A coupling of the vectors A and B with the cost t: moves (k, m, amount) along finite factors. *)
Definition carries (l : list (positive * positive * Q)) (A B : list (positive * Q)) (t : Q) :=
  (forall k m a, In ((k, m), a) l -> (0 <= a)%Q /\ exists r, factor_at k m = Some r) /\
  all_ge0 (map (fun e : positive * positive * Q => (fst (fst e), snd e)) l ++ scale (- (1)) A) = true /\
  all_ge0 (scale t B ++ map (fun e : positive * positive * Q => (snd (fst e),
     match factor_at (fst (fst e)) (snd (fst e)) with Some r => Qred (- (r * snd e)) | None => 0 end)%Q) l) = true.

Lemma carries_ok l A B t (g : positive -> F) : carries l A B t -> (forall s, 0 <= g s) ->
  (forall k m r, R k m = Some r -> g k <= ofQ r * g m) -> eval A g <= ofQ t * eval B g.
Proof.
  intros (Fin & Left & Right) G Rel.
  apply all_ge0_ok with (f := g) in Left; [| auto]. apply all_ge0_ok with (f := g) in Right; [| auto].
  rewrite eval_app, eval_scale, ofQ_opp, ofQ_1 in Left. rewrite eval_app, eval_scale in Right.
  assert (K : 0 <= ofQ 0 - (eval (map (fun e : positive * positive * Q => (fst (fst e), snd e)) l) g
    + eval (map (fun e : positive * positive * Q => (snd (fst e), match factor_at (fst (fst e)) (snd (fst e)) with Some r => Qred (- (r * snd e)) | None => 0 end)%Q) l) g)).
  { clear Left Right. induction l as [| [[k m] a] l IH]; simpl.
    - apply sub_ge0. rewrite ofQ_0. apply le_by with (0 : F); [ring | apply le_refl].
    - assert (IHl := IH (fun k m a I => Fin k m a (or_intror I))); clear IH.
      destruct (Fin k m a (or_introl eq_refl)) as [A0 [r Er]]. rewrite Er.
      assert (Rk : g k <= ofQ r * g m).
      { unfold factor_at in Er. destruct (Pos.eqb k m) eqn:E; [| now apply Rel].
        apply Pos.eqb_eq in E; subst m; injection Er as <-. rewrite ofQ_1. apply le_by with (0 : F); [ring | apply le_refl]. }
      rewrite (ofQ_eq F (Qred_correct _)), ofQ_opp, ofQ_mul.
      set (u := eval _ _) in *; set (z := eval (map _ l) g) in *.
      match goal with |- 0 <= ofQ 0 - (?x + ?u + (?y + ?z)) => replace (ofQ 0 - (x + u + (y + z)))
        with (ofQ a * (ofQ r * g m - g k) + (ofQ 0 - (u + z))) by ring end.
      apply add_ge0; [apply le_mul; [now apply ofQ_ge0 | now apply sub_ge0] | assumption]. }
  rewrite ofQ_0 in K. match type of K with 0 <= 0 - (?u + ?z) =>
    apply le_by with ((0 - (u + z)) + (u + - (1) * eval A g) + (ofQ t * eval B g + z)) end; [ring |].
  apply add_ge0; [apply add_ge0; [exact K | exact Left] | exact Right]. Qed.

(** The vector of the successors of a state with the observation x. *)
Definition seen_after (i x : positive) := stepped H [(i, 1%Q)] x.

Lemma eval_seen_after i x g : eval (seen_after i x) g = eval (steps_from H i) (fun t => ofQ (observes H t x) * g t) :> F.
Proof. unfold seen_after; rewrite eval_stepped; simpl. rewrite ofQ_1; ring. Qed.

Definition factors_ok := forall i j r, R i j = Some r -> (1 <= r)%Q /\
  forall x, In x observations -> exists l, carries l (seen_after i x) (seen_after j x) r.

Theorem factors_bound w : factors_ok -> (forall x, In x w -> In x observations) ->
  forall i j r, R i j = Some r -> after_leaving w i <= ofQ r * after_leaving w j.
Proof.
  intros Ok; induction w as [| x w IH]; intros Ob i j r E; destruct (Ok i j r E) as [R1 St].
  - unfold after_leaving; simpl. rewrite <- ofQ_1. apply le_by with (ofQ r - ofQ 1 : F); [rewrite ofQ_1; ring |].
    apply sub_ge0; now apply ofQ_le.
  - destruct (St x) as [l C]; [apply Ob; now left |].
    assert (IH' := IH (fun y I => Ob y (or_intror I))).
    change (after_leaving (x :: w) i) with (eval (steps_from H i) (fun t => ofQ (observes H t x) * after_leaving w t)).
    change (after_leaving (x :: w) j) with (eval (steps_from H j) (fun t => ofQ (observes H t x) * after_leaving w t)).
    rewrite <- !eval_seen_after. apply (carries_ok C); [apply after_leaving_ge0 | exact IH']. Qed.

(** Theorem. A table of factors, with a coupling of the two distributions, proves a budget for every length. *)
Theorem factors_prove_budget pi tau c : factors_ok ->
  (forall x, In x observations -> exists l, carries l (observed H pi x) (observed H tau x) c) ->
  forall w, w <> [] -> (forall x, In x w -> In x observations) -> probability_of pi w <= ofQ c * probability_of tau w.
Proof.
  intros Ok St w N Ob. destruct w as [| x w]; [easy |]. destruct (St x) as [l C]; [apply Ob; now left |].
  unfold probability_of.
  change (from (x :: w)) with (fun s => ofQ (observes H s x) * after_leaving w s).
  rewrite <- !eval_observed. apply (carries_ok C); [apply after_leaving_ge0 |].
  intros k m r E. apply (factors_bound Ok); [intros y I; apply Ob; now right | assumption]. Qed.
End Factors.
End Hmm.

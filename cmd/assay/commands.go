package main

import "github.com/spf13/cobra"

// commands lists the command tree; a new command is one line here.
func commands(st *state) []*cobra.Command {
	return []*cobra.Command{
		newQualifyCommand(st),
		newRunCommand(st),
		newResumeCommand(st),
		newJournalCommand(st),
		newScoreCommand(st),
		newGateCommand(st),
		newReportCommand(st),
		newTraceCommand(st),
		newRunsCommand(st),
		newSuiteCommand(st),
		newCorpusCommand(st),
		newModelsCommand(st),
		newDoctorCommand(st),
		newVersionCommand(st),
		newSuperviseCommand(st),
	}
}

package main

import "github.com/spf13/cobra"

// commands lists the command tree; a new command is one line here.
func commands(st *state) []*cobra.Command {
	return []*cobra.Command{
		newVersionCommand(st),
	}
}

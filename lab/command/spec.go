package command

// ProgramName is the name that cmd/antipode-machine is called by to be the first
// process of a command's pid namespace.
const ProgramName = "antipode-lab-exec"

// Spec is what Main is told.
type Spec struct {
	Args     []string `json:"args"`               // the command and its arguments
	HostName string   `json:"host_name"`          // of the place it runs in
	Hosts    string   `json:"hosts"`              // lines that it finds in /etc/hosts besides the host's own
	UserID   int      `json:"user_id,omitempty"`  // who it is to see itself as; 0: as the root that it has become
	GroupID  int      `json:"group_id,omitempty"` // likewise
}

// Exit codes where the command has none to give, as env, nohup and docker have them.
const (
	ExitFailed    = 1   // it could not be set up, or the lab ended
	ExitNoPower   = 126 // it is there, but can't be executed
	ExitNotFound  = 127
	exitBySignals = 128 // and the signal's number is added
)

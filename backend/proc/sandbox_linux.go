package proc

// sandboxProgram is bubblewrap.
const sandboxProgram = "bwrap"

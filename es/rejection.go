package es

// Reject returns an error with which a decider rejects a command. code tells programs what is wrong, reason people.
func Reject(kind Kind, code, reason string) error { return &rejection{kind, code, reason} }

type rejection struct {
	kind         Kind
	code, reason string
}

func (r *rejection) Error() string { return r.reason }

// Class returns the error's class for KindOf.
func (r *rejection) Class() string { return r.kind.String() }

// Code returns what is wrong.
func (r *rejection) Code() string { return r.code }

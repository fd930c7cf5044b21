// Package model holds requests and answers of the clouds' APIs against the
// models that the clouds publish of them: names, types, required members,
// enums. The SDKs pass over an element they don't know, and the lab's doors were
// written here; the models were not. Tests of doors, of providers and of whole
// runs put a Witness between the two. Nothing else imports the package, so that
// no model gets into a binary.
//
// The models in models/ are cut down to the calls of calls.txt. They come from
// botocore (Amazon's service-2.json files, Apache-2.0) and from the Go module
// google.golang.org/api (Google's discovery documents, BSD-3-Clause). After a
// change of calls.txt they are made anew by
//
//	go run ./lab/door/model/trim -botocore "$(python3 -c 'import botocore; print(botocore.__path__[0])')"
package model

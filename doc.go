// Package antipode knows the cloud regions: where they stand, how far apart
// they are, and how fast light could possibly travel between them. Everything
// else imports it; it imports nothing of the project.
package antipode

// Package gce is the lab's Google Cloud door: the part of Compute Engine's
// REST API (v1) that a sweep uses, for one project in all regions, and the
// question of Resource Manager which permissions the caller has. State is real;
// changes go through operations that take their time, and errors come where the
// cloud puts them: in the answer or in the operation. Package door opens it; the
// ordinary SDK talks to it. It must not know the other cloud.
package gce

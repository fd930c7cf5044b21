// Package page makes report.html: one file that shows what rows say, to look at,
// to filter and to print, without a network. Package main's report calls it.
//
// The text of the page is written here; what moves in it is the bundle
// dist/page.js, made of web/src by the module in bundle, which nobody needs who
// only builds antipode.
package page

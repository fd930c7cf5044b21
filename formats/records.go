package formats

import (
	"fmt"
	"reflect"
	"time"

	"github.com/antipode-bench/antipode/results"
)

// recordType is results.Row with the tags of another encoding: tag gets the
// name of each column. Empty text and figures that nobody measured are absent.
func recordType(tag func(column string) string) reflect.Type {
	row := reflect.TypeFor[results.Row]()
	columns := results.Columns()
	var fields []reflect.StructField
	for i := range row.NumField() {
		f := row.Field(i)
		fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: reflect.StructTag(tag(columns[i]))})
	}
	return reflect.StructOf(fields)
}

// tableType is the type of a line of a Parquet file: without the run, which the
// folder has, and with a real timestamp.
func tableType() reflect.Type {
	row := reflect.TypeFor[results.Row]()
	columns := results.Columns()
	var fields []reflect.StructField
	for i := range row.NumField() {
		f := row.Field(i)
		field := reflect.StructField{Name: f.Name, Type: f.Type, Tag: reflect.StructTag(fmt.Sprintf(`parquet:"%s,optional"`, columns[i]))}
		switch f.Name {
		case "RunID":
			continue
		case "Timestamp":
			field.Type, field.Tag = reflect.TypeFor[time.Time](), `parquet:"timestamp,optional,timestamp(microsecond)"`
		}
		fields = append(fields, field)
	}
	return reflect.StructOf(fields)
}

// tableRow fills a pointer to a tableType.
func tableRow(to reflect.Value, r results.Row) error {
	from := reflect.ValueOf(r)
	line := to.Elem()
	line.SetZero()
	for i := range line.NumField() {
		name := line.Type().Field(i).Name
		if name != "Timestamp" {
			line.Field(i).Set(from.FieldByName(name))
			continue
		}
		if r.Timestamp == "" {
			continue // a kind of file that does not say when
		}
		at, err := time.Parse(time.RFC3339, r.Timestamp)
		if err != nil {
			return fmt.Errorf("timestamp %q: %w", r.Timestamp, err)
		}
		line.Field(i).Set(reflect.ValueOf(at))
	}
	return nil
}

package duckdb

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

const antipode = "../../bin/antipode"

// sources are files of every kind with a run of its own in each.
func sources() []string {
	data := "../../formats/testdata/"
	return []string{
		"../../results/testdata/two-rows.csv", data + "intercloud/results_202202.csv",
		data + "skyplane/latency_v2.csv.gz", data + "skyplane/throughput_2022-01-24.csv.gz", data + "tools/iperf3-tcp.json",
	}
}

// TestParquet: DuckDB reads the folder as one table, row for row and column for
// column what the JSON lines of the same rows say.
func TestParquet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	export(t, "--parquet", dir)
	got := table(t, fmt.Sprintf("SELECT * FROM read_parquet('%s/*/*.parquet', hive_partitioning = true)", dir))
	want := lines(t, export(t, "--jsonl", "-"))
	if len(got) != len(want) || len(got) < 14_000 {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("row %d of both in order:\n got %s\nwant %s", i, got[i], want[i])
		}
	}
}

// TestTypes: what is a number or a time to us is one to the reader, and what
// nobody measured is null.
func TestTypes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "table")
	export(t, "--parquet", dir)
	db := open(t)
	var goodputs, nulls, runs int
	var first time.Time
	var kinds string
	err := db.QueryRow(fmt.Sprintf(`SELECT count(goodput_bps), count(*) - count(goodput_bps), count(DISTINCT run_id), min(timestamp),
		any_value(typeof(goodput_bps) || ' ' || typeof(bytes) || ' ' || typeof(timestamp) || ' ' || typeof(run_id))
		FROM read_parquet('%s/*/*.parquet', hive_partitioning = true)`, dir)).Scan(&goodputs, &nulls, &runs, &first, &kinds)
	if err != nil {
		t.Fatal(err)
	}
	if goodputs != 1+2138+4032+1 || nulls != 1+8010+2 || first.Year() != 2022 || kinds != "DOUBLE BIGINT TIMESTAMP WITH TIME ZONE VARCHAR" {
		t.Errorf("%d goodputs, %d without, %d runs, first at %v, types %s", goodputs, nulls, runs, first, kinds)
	}
}

// export runs the command over all sources and returns what it prints.
func export(t *testing.T, to ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(antipode, append(append([]string{"export"}, sources()...), to...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v: %s (build it with make build)", cmd, err, errs.String())
	}
	return out.Bytes()
}

func open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// table is every row as text, sorted.
func table(t *testing.T, query string) (rows []string) {
	t.Helper()
	found, err := open(t).Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	cells := make([]any, len(columns))
	places := make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, column := range columns {
			if cells[i] != nil {
				row[column] = cells[i]
			}
		}
		rows = append(rows, text(row))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(rows)
	return rows
}

// lines are the JSON lines in the same form.
func lines(t *testing.T, data []byte) (rows []string) {
	t.Helper()
	scanner := bufio.NewScanner(bytes.NewReader(data))
	for scanner.Scan() {
		var row map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, text(row))
	}
	slices.Sort(rows)
	return rows
}

// text is the row in the order of its columns' names.
func text(row map[string]any) string {
	var cells []string
	for column, value := range row {
		switch v := value.(type) {
		case time.Time:
			value = v.UTC().Format(time.RFC3339)
		case int64:
			value = float64(v) // as JSON has it
		}
		cells = append(cells, fmt.Sprintf("%s=%v", column, value))
	}
	slices.Sort(cells)
	return strings.Join(cells, " ")
}

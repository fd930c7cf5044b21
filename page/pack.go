package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// block is data in the page: base64 of gzip, which a browser unpacks by itself.
type block struct{ id, text string }

// blocksOf are read in this order: what the page shows at once, the rows that a
// click asks for, how their tests went on.
func blocksOf(in Input) ([]block, error) {
	rows := rowsOf(in.Data)
	series, samples := seriesOf(in.Data)
	rows.Series = series
	var blocks []block
	for _, b := range []struct {
		id   string
		data any
	}{{"facts", factsOf(in)}, {"rows", rows}} {
		text, err := json.Marshal(b.data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.id, err)
		}
		blocks = append(blocks, block{b.id, pack(text)})
	}
	return append(blocks, block{"samples", pack(samples)}), nil
}

// pack can't fail: it writes into memory.
func pack(data []byte) string {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(data)
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// numbers are a column. What nobody measured is null, and figures keep the
// digits that are worth their bytes.
type numbers []float64

// digits that figures keep.
const digits = 5

// MarshalJSON never fails.
func (n numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil {
		return append(b, "null"...)
	}
	if math.Abs(short) >= 1e6 {
		return strconv.AppendFloat(b, short, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, short, 'f', -1, 64)
}

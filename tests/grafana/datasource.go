// SPDX-License-Identifier: GPL-2.0-or-later

// Asks PostgreSQL through Grafana's own data source: its macros, its conversion of rows to frames. Reads one JSON object from
// standard input (where the database is, and what to ask), and writes what came back of each query, a line each.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/grafana/grafana-plugin-sdk-go/backend"
	"github.com/grafana/grafana/pkg/setting"
	"github.com/grafana/grafana/pkg/tsdb/postgres"
)

type query struct {
	Name      string
	Format    string
	RawSql    string
	From, To  int64 // seconds
	StepMs    int64
	MaxPoints int64
}

type input struct {
	URL, User, Database string
	Queries             []query
}

type field struct {
	Name, Type string
	Labels     map[string]string
}

type answer struct {
	Name   string
	Error  string
	Rows   int
	Frames int
	Fields []field
	Ms     int64
}

func ask(service *postgres.Service, in *input, q *query) answer {
	settings, _ := json.Marshal(map[string]any{"database": in.Database, "sslmode": "disable", "postgresVersion": 1300})
	model, _ := json.Marshal(map[string]any{"rawSql": q.RawSql, "format": q.Format, "rawQuery": true, "refId": "A"})
	request := backend.QueryDataRequest{
		PluginContext: backend.PluginContext{OrgID: 1, PluginID: "postgres", DataSourceInstanceSettings: &backend.DataSourceInstanceSettings{
			ID: 1, UID: "unblend", URL: in.URL, User: in.User, JSONData: settings,
			DecryptedSecureJSONData: map[string]string{"password": "none"}}},
		Queries: []backend.DataQuery{{RefID: "A", JSON: model, Interval: time.Duration(q.StepMs) * time.Millisecond,
			MaxDataPoints: q.MaxPoints, TimeRange: backend.TimeRange{From: time.Unix(q.From, 0), To: time.Unix(q.To, 0)}}},
	}
	started := time.Now()
	response, err := service.QueryData(context.Background(), &request)
	result := answer{Name: q.Name, Ms: time.Since(started).Milliseconds()}
	if err != nil {
		result.Error = err.Error()
		return result
	}
	data := response.Responses["A"]
	if data.Error != nil {
		result.Error = data.Error.Error()
		return result
	}
	result.Frames = len(data.Frames)
	for _, frame := range data.Frames {
		result.Rows += frame.Rows()
		for _, f := range frame.Fields {
			result.Fields = append(result.Fields, field{f.Name, f.Type().String(), f.Labels})
		}
	}
	return result
}

func main() {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, "datasource: standard input:", err)
		os.Exit(2)
	}
	cfg := setting.NewCfg()
	cfg.DataPath = os.TempDir()
	cfg.DataProxyRowLimit = 1000000
	cfg.SqlDatasourceMaxOpenConnsDefault, cfg.SqlDatasourceMaxIdleConnsDefault = 4, 4
	cfg.SqlDatasourceMaxConnLifetimeDefault = 600
	service, out := postgres.ProvideService(cfg), json.NewEncoder(os.Stdout)
	for i := range in.Queries {
		if err := out.Encode(ask(service, &in, &in.Queries[i])); err != nil {
			os.Exit(1)
		}
	}
}

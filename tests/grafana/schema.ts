// SPDX-License-Identifier: GPL-2.0-or-later
// What a dashboard's file may hold, made of the types of @grafana/schema; tests/grafana/schema assigns each file to
// Board, and says where the modules panel/... are in the version at hand.
import type * as grafana from '@grafana/schema';
import type * as heatmap from 'panel/heatmap';
import type * as stat from 'panel/stat';
import type * as timeline from 'panel/statetimeline';
import type * as table from 'panel/table';
import type * as timeseries from 'panel/timeseries';

// As JSON has it: members of enums are their values. Of numbers, TypeScript takes those of an enum's members by itself.
type Json<T> = unknown extends T ? T
    : T extends string ? `${T}`
    : T extends number | boolean | null | undefined ? T
    : { [K in keyof T]: Json<T[K]> };

// What Grafana fills in by itself, and what it reads although the types of some versions lack it.
type Filled<T, K extends string> = Omit<T, K> & { [P in K & keyof T]?: T[P] };
type Also<T, More> = T & Omit<More, keyof T>;

type Source = { type: 'postgres'; uid: '${datasource}' };

// The package has nothing of what the PostgreSQL data source adds to a query: this is all that it is asked for.
type Query<Id extends string> = Omit<Json<grafana.DataQuery>, 'datasource' | 'refId'> & {
    refId: Id; datasource: Source; editorMode: 'code'; format: 'time_series' | 'table'; rawQuery: true; rawSql: string;
};

// Links of fields and ids of matchers are not in it, either.
type Link = { title: string; url: string; targetBlank: boolean };
type Matcher = { id: 'byName' | 'byRegexp' | 'byType'; options: string };
type Field = Omit<Json<grafana.FieldConfig>, 'custom' | 'links' | 'thresholds'> & {
    links?: Link[];
    thresholds: Json<grafana.ThresholdsConfig>; // where a step may be null: FieldConfig has not this one in 10.0
};
type Setting<T, Prefix extends string> =
    { [K in keyof T & string]-?: { id: `${Prefix}${K}`; value: T[K] } }[keyof T & string];

type Frame = Also<Filled<Json<grafana.Panel>, 'transformations'>, { maxPerRow?: number }>;
type PanelOf<Type, Options, Custom> = Omit<Frame, 'type' | 'datasource' | 'targets' | 'options' | 'fieldConfig'> & {
    type: Type;
    datasource: Source;
    targets: Query<'A'>[];
    options: Partial<Options>; // of what is missing a panel has defaults
    fieldConfig: {
        defaults: Field & { custom: Custom };
        overrides: { matcher: Matcher; properties: (Setting<Field, ''> | Setting<Custom, 'custom.'>)[] }[];
    };
};

// Its tooltip was shown or not in 10.0, and has a mode since then: left to defaults.
type Heatmap = Omit<Json<heatmap.Options>, 'tooltip'> & { tooltip: Partial<Json<heatmap.HeatmapTooltip>> };
type Panel =
    | PanelOf<'heatmap', Heatmap, Json<heatmap.FieldConfig>>
    | PanelOf<'stat', Json<stat.Options>, Record<string, never>>
    | PanelOf<'state-timeline', Json<timeline.Options>, Json<timeline.FieldConfig>>
    | PanelOf<'table', Json<table.Options>, Json<grafana.TableFieldOptions>>
    | PanelOf<'timeseries', Json<timeseries.Options>, Json<timeseries.FieldConfig>>;
type Row = Omit<Json<grafana.RowPanel>, 'panels'> & { panels: Panel[] };

type Variable = Omit<Also<Filled<Json<grafana.VariableModel>, 'id' | 'datasource'>,
    { allValue?: string; includeAll?: boolean; regex?: string; sort?: grafana.VariableSort }>, 'current'> & {
    current: Json<grafana.VariableModel>['current'] | Record<string, never>; // nothing is chosen yet
};
type Annotation = Omit<Also<Json<grafana.AnnotationQuery>, { builtIn?: 1 }>, 'target' | 'datasource'> & (
    | { datasource: Source; target: Query<'Anno'> }
    | { datasource: { type: 'grafana'; uid: '-- Grafana --' }; type: 'dashboard'; builtIn: 1 });

type Told = 'panels' | 'templating' | 'annotations' | 'timepicker' | 'id';
export type Board = Omit<Filled<Json<grafana.Dashboard>, 'style'>, Told> & {
    panels: (Panel | Row)[];
    templating: { list: Variable[] };
    annotations: { list: Annotation[] };
    timepicker: Partial<Json<NonNullable<grafana.Dashboard['timepicker']>>>;
    uid: string;
};

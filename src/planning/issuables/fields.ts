/**
 * Declarations of the fields of issues and merge requests, and everything derived from them. Each kind lists its
 * columns and JSON fields once, in its own `fields.ts`. Parameters, permissions, stored values, system notes and JSON
 * follow from that list, so a new column is one entry. The entries are in the order of the JSON.
 */
import type { Static, TSchema, TUnsafe } from 'typebox';
import { type ProjectAction, may } from '../../core/access/may.ts';
import type { DatedSite } from '../../core/access/site.ts';
import type { Viewer } from '../../core/access/viewer.ts';
import type { Flag } from '../../platform/db/schema/column_types.ts';
import { bool, nullable, timestamp } from '../../platform/http/schema.ts';
import { formatTime } from '../../platform/time.ts';
import type { Project } from '../../projects/projects/find.ts';

/** Texts of system notes; null: no note. */
type Notes = readonly (string | null)[];

type ShownAs<V, S extends TSchema = TSchema> = { shape: S; toJson: (value: V, site: DatedSite) => unknown };

/** `In`: what reads the column accepts; `Out`: what is stored. Both are the column's type. */
type ColumnField<In, Out> = {
  /** null if the JSON does not have the column. */
  json: ShownAs<In> | null;
  /** Absent: clients cannot set the column directly. */
  set?: {
    /** Schema made with `optional`. */
    param: TSchema;
    /** Name of the parameter, if it is not the column's. */
    name?: string;
    toColumn: (value: never) => Out;
    /** Value in a new record without the parameter. Absent: only an edit takes the parameter. */
    initial?: Out;
    /** Permission needed to set the column. From other users the parameter is ignored. */
    permission?: ProjectAction;
    note?: (before: In, after: In) => Notes;
  };
};

/** A JSON field that is computed from the whole record. */
type DerivedField<Full> = { derive: ShownAs<Full> };

/** One entry for each column of `Row`, with the properties `Extra`, and entries for derived JSON fields. */
export type FieldsOf<Row, Full, Extra = unknown> = {
  [C in keyof Row]: ColumnField<Row[C], Row[C]> & Extra;
} & {
  [name: string]: (ColumnField<never, unknown> & Extra) | DerivedField<Full>;
};

type AnyFields = { [name: string]: ColumnField<never, unknown> | DerivedField<never> };

/* ---- parts of declarations ---- */

/** Shows a column unchanged. */
export const asIs = <V>(shape: TUnsafe<V>) => ({ shape, toJson: (value: V): V => value });

export const asTime = { shape: timestamp, toJson: (time: number) => formatTime(time) };

export const asFlag = { shape: bool, toJson: (flag: Flag) => flag === 1 };

/** Shows null as null, and other values as `shown` does. */
export const orNull = <V, S extends TSchema>({ shape, toJson }: ShownAs<V, S>) => ({
  shape: nullable(shape),
  toJson: (value: V | null, site: DatedSite) => (value === null ? null : toJson(value, site)),
});

/** Declares a JSON field that is computed from the whole record. */
export const derived = <Full, S extends TSchema>(
  shape: S,
  toJson: (record: Full, site: DatedSite) => Static<S>,
) => ({ derive: { shape, toJson } });

/** Declares how clients set a column. `toColumn` is checked against the type of the parameter. */
export const setBy = <S extends TSchema, const T extends { toColumn: (value: Static<S>) => unknown }>(
  param: S,
  rest: T,
) => ({ param, ...rest });

/* ---- types that derive from declarations ---- */

type Shape<F> = F extends { json: { shape: infer S } }
  ? S
  : F extends { derive: { shape: infer S } }
    ? S
    : never;

type ShownName<F> = { [N in keyof F]: [Shape<F[N]>] extends [never] ? never : N }[keyof F];

type Shapes<F> = { [N in ShownName<F>]: Shape<F[N]> & TSchema };

type Json<F> = { [N in ShownName<F>]: Static<Shape<F[N]> & TSchema> };

type ParamName<F, N> = F extends { set: { name: infer P extends string } } ? P : N;

type EditName<F> = { [N in keyof F]: F[N] extends { set: object } ? N : never }[keyof F];

type CreateName<F> = { [N in keyof F]: F[N] extends { set: { initial: unknown } } ? N : never }[keyof F];

type Param<F> = F extends { set: { param: infer S extends TSchema } } ? S : never;

type Params<F, Names extends keyof F> = { [N in Names as ParamName<F[N], N> & string]: Param<F[N]> };

type Input<F, Names extends keyof F> = {
  [N in Names as ParamName<F[N], N> & string]?: Static<Param<F[N]>>;
};

/** Values that an edit may set. */
export type EditInput<F> = Input<F, EditName<F>>;

/** Optional values of a new record. */
export type CreateInput<F> = Input<F, CreateName<F>>;

/** One part of an edit: columns to store and the system note. */
export type Part<Row> = { set: Partial<Row>; note: string | null };

/* ---- functions that derive from declarations ---- */

const getShown = (field: AnyFields[string]): ShownAs<never> | null =>
  'derive' in field ? field.derive : field.json;

/** Shapes of the JSON fields, in the order of their declarations. */
export const jsonShapes = <F extends AnyFields>(fields: F): Shapes<F> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const shown = getShown(field);
      return shown === null ? [] : [[name, shown.shape]];
    }),
  ) as Shapes<F>;

/** Rejects, when compiling, a declared column that `Row` does not have. */
type OnlyColumnsOf<Row, F> = {
  [N in keyof F]: F[N] extends { derive: object } ? unknown : N extends keyof Row ? unknown : never;
};

/** Makes the function that builds the JSON of a record of type `Full`. */
export const jsonBuilder = <Full, F extends AnyFields>(fields: F & OnlyColumnsOf<Full, F>) => {
  const builders = Object.entries(fields).flatMap(([name, field]) => {
    const shown = getShown(field) as ShownAs<unknown> | null;
    return shown === null ? [] : [{ name, isDerived: 'derive' in field, toJson: shown.toJson }];
  });
  return (record: Full, site: DatedSite): Json<F> => {
    const json: Record<string, unknown> = {};
    for (const { name, isDerived, toJson } of builders) {
      json[name] = toJson(isDerived ? record : record[name as keyof Full], site);
    }
    return json as Json<F>;
  };
};

type Settable = { column: string; param: string; set: NonNullable<ColumnField<never, unknown>['set']> };

const settableFields = new WeakMap<AnyFields, Settable[]>();

/** Lists the fields that clients can set, once for each declaration. */
const listSettable = (fields: AnyFields): readonly Settable[] => {
  const known = settableFields.get(fields);
  if (known !== undefined) return known;
  const listed: Settable[] = Object.entries(fields).flatMap(([column, field]) =>
    'derive' in field || field.set === undefined
      ? []
      : [{ column, param: field.set.name ?? column, set: field.set }],
  );
  settableFields.set(fields, listed);
  return listed;
};

const isSetAtCreation = ({ set }: Settable): boolean => 'initial' in set;

const toParams = (settable: readonly Settable[]): Record<string, TSchema> =>
  Object.fromEntries(settable.map(({ param, set }) => [param, set.param]));

/** Parameters of an edit. */
export const editParams = <F extends AnyFields>(fields: F): Params<F, EditName<F>> =>
  toParams(listSettable(fields)) as Params<F, EditName<F>>;

/** Optional parameters of a creation. */
export const createParams = <F extends AnyFields>(fields: F): Params<F, CreateName<F>> =>
  toParams(listSettable(fields).filter(isSetAtCreation)) as Params<F, CreateName<F>>;

/** Drops the values that the viewer may not set. */
export const keepPermitted = <T extends object>(
  fields: AnyFields,
  { viewer, project }: { viewer: Viewer; project: Project },
  input: T,
): T => {
  const refused = listSettable(fields).flatMap(({ param, set: { permission } }) =>
    permission === undefined || !(param in input) || may(viewer, permission, project) ? [] : [param],
  );
  return Object.fromEntries(Object.entries(input).filter(([name]) => !refused.includes(name))) as T;
};

/** Columns of a new record that clients may set, each with the given or its initial value. */
export const newColumns = <Row, F extends AnyFields>(
  fields: F,
  input: CreateInput<F>,
): Pick<Row, CreateName<F> & keyof Row> => {
  const values: Record<string, never> = { ...(input as object) };
  const columns = listSettable(fields)
    .filter(isSetAtCreation)
    .map(({ column, param, set }) => [
      column,
      values[param] === undefined ? set.initial : set.toColumn(values[param]),
    ]);
  return Object.fromEntries(columns) as Pick<Row, CreateName<F> & keyof Row>;
};

/** The columns that an edit changes, with their system notes, in the order of the declarations. */
export const changedColumns = <Row extends object>(
  fields: AnyFields,
  before: Row,
  edit: object,
): Part<Row>[] => {
  const values: Record<string, never> = { ...edit };
  return listSettable(fields).flatMap(({ column, param, set }) => {
    const old = before[column as keyof Row];
    const value = values[param] === undefined ? old : set.toColumn(values[param]);
    if (value === old) return [];
    const notes = set.note?.(old as never, value as never) ?? [];
    return [{ set: { [column]: value }, note: null }, ...notes.map((note) => ({ set: {}, note }))];
  });
};

/** Pages that labels and milestones have alike: the form for a new record, the form of an existing one, its removal. */
import type { Call } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import {
  type OwnedList,
  type OwnedListParams,
  type OwnedListRoute,
  findToChange,
  ownerParams,
} from './project_or_group_routes.ts';

export type OwnedRecords<Row> = {
  /** Parameter that names a record in addresses. */
  key: 'id' | 'iid';
  find: (call: Call, list: OwnedList, key: number) => Promise<Row>;
  newView: (visit: Visit, list: OwnedList) => View;
  editView: (visit: Visit, list: OwnedList, row: Row) => View;
  remove: (call: Call, list: OwnedList, row: Row) => Promise<void>;
  /** Notice after the removal. */
  removed: (row: Row) => string;
};

/** Finds a record of a list that the caller may change. */
export const findRecordToChange = async <Row>(
  kind: OwnedListRoute,
  { find, key }: OwnedRecords<Row>,
  call: Call,
  params: OwnedListParams & { id?: unknown; iid?: unknown },
): Promise<{ list: OwnedList; row: Row }> => {
  const list = await findToChange(kind, call, params);
  return { list, row: await find(call, list, Number(params[key])) };
};

export const ownedRecordPages = <Row>(kind: OwnedListRoute, records: OwnedRecords<Row>): AnyPage[] => {
  const { key, newView, editView, remove, removed } = records;
  const one = object({ ...ownerParams, [key]: id() });
  return [
    page({
      method: 'GET',
      path: `${kind.served}/new`,
      audience: 'user',
      params: object(ownerParams),
      handle: async (visit, params) => newView(visit, await findToChange(kind, visit.call, params)),
    }),
    page({
      method: 'GET',
      path: `${kind.served}/:${key}/edit`,
      audience: 'user',
      params: one,
      handle: async (visit, params) => {
        const { list, row } = await findRecordToChange(kind, records, visit.call, params);
        return editView(visit, list, row);
      },
    }),
    page({
      method: 'POST',
      path: `${kind.served}/:${key}/delete`,
      audience: 'user',
      params: one,
      handle: async (visit, params) => {
        const { list, row } = await findRecordToChange(kind, records, visit.call, params);
        await remove(visit.call, list, row);
        return redirect(list.path, removed(row));
      },
    }),
  ];
};

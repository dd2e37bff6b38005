/** Pages shared by labels and milestones: the forms to create and to edit a record, and its removal. */
import type { Call } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import type { Owner } from '../../../../projects/project_or_group/owner.ts';
import { type AnyPage, type View, type Visit, page, redirect } from '../../page.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { redirectWithProblems } from '../../parts/form_problems.ts';
import { projectRoot } from '../../project_and_group_pages.ts';
import {
  type OwnedList,
  type OwnedListParams,
  type OwnedListRoute,
  type OwnerNoun,
  canPromote,
  findPromotionGroup,
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
  noun: OwnerNoun;
  /** Moves a record of a project to its group. */
  promote: (call: Call, owners: { project: Owner; group: Owner }, row: Row) => Promise<unknown>;
  /** Notice after that. */
  promoted: (row: Row) => string;
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

/** The form that moves a record of a project to its group. */
const promotePage = <Row>(kind: OwnedListRoute, records: OwnedRecords<Row>): AnyPage => {
  const { key, noun, promote, promoted } = records;
  return formPage({
    path: `${kind.routePath}/:${key}/promote`,
    audience: 'user',
    address: { ...ownerParams, [key]: id() },
    fields: {},
    find: async ({ call }, address) => await findRecordToChange(kind, records, call, address),
    fromSent: () => null,
    run: async ({ call }, { list, row }) => {
      const group = await findPromotionGroup(call, list, noun);
      await promote(call, { project: list.owner, group }, row);
      return redirect(list.path, promoted(row));
    },
    view: (_visit, { list }, { problems }) => redirectWithProblems(list.path, problems),
  });
};

export const ownedRecordPages = <Row>(kind: OwnedListRoute, records: OwnedRecords<Row>): AnyPage[] => {
  const { key, noun, newView, editView, remove, removed } = records;
  const one = object({ ...ownerParams, [key]: id() });
  return [
    page({
      method: 'GET',
      path: `${kind.routePath}/new`,
      audience: 'user',
      params: object(ownerParams),
      handle: async (visit, params) => newView(visit, await findToChange(kind, visit.call, params)),
    }),
    page({
      method: 'GET',
      path: `${kind.routePath}/:${key}/edit`,
      audience: 'user',
      params: one,
      handle: async (visit, params) => {
        const { list, row } = await findRecordToChange(kind, records, visit.call, params);
        return editView(visit, { ...list, canPromote: await canPromote(visit.call, list, noun) }, row);
      },
    }),
    page({
      method: 'POST',
      path: `${kind.routePath}/:${key}/delete`,
      audience: 'user',
      params: one,
      handle: async (visit, params) => {
        const { list, row } = await findRecordToChange(kind, records, visit.call, params);
        await remove(visit.call, list, row);
        return redirect(list.path, removed(row));
      },
    }),
    ...(kind.routePath.startsWith(projectRoot) ? [promotePage(kind, records)] : []),
  ];
};

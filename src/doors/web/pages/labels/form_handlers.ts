/** Forms of labels, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { Failure } from '../../../../platform/errors.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { createLabel } from '../../../../projects/labels/create.ts';
import { deleteLabel } from '../../../../projects/labels/delete.ts';
import type { LabelRow } from '../../../../projects/labels/label_row.ts';
import { promoteLabel } from '../../../../projects/labels/promote.ts';
import { findLabel } from '../../../../projects/labels/queries.ts';
import { setLabelSubscribed } from '../../../../projects/labels/subscribe.ts';
import { updateLabel } from '../../../../projects/labels/update.ts';
import { type AnyPage, page, redirect } from '../../page.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import {
  editFields,
  editLabelView,
  fromSent,
  labelFields,
  labelGuard,
  newLabelView,
  toProblems,
} from './form.ts';
import { listQuery } from './list.ts';
import { type OwnedList, type OwnedListRoute, findToChange, ownerParams } from './project_or_group_routes.ts';
import { type OwnedRecords, findRecordToChange, ownedRecordPages } from './label_and_milestone_pages.ts';

const labels: OwnedRecords<LabelRow> = {
  key: 'id',
  find: async ({ db }, { owner }, labelId) => await findLabel(db, owner, { id: labelId }, 'own'),
  newView: newLabelView,
  editView: editLabelView,
  remove: async (call, { owner }, row) => await deleteLabel(call, owner, { id: row.id }),
  removed: ({ title }) => `The label ${title} was deleted.`,
  noun: 'labels',
  promote: async (call, owners, row) => await promoteLabel(call, owners, { id: row.id }),
  promoted: ({ title }) => `The label ${title} was promoted to the group.`,
};

const create = (kind: OwnedListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: 'user',
    address: ownerParams,
    fields: labelFields,
    find: async ({ call }, address) => await findToChange(kind, call, address),
    fromSent,
    toProblems,
    run: async ({ call }, list, { name = '', color = '', description, priority = null }) => {
      await createLabel(call, list.owner, { name, color, description: description || null, priority });
      return redirect(list.path, `The label ${name.trim()} was created.`);
    },
    view: newLabelView,
  });

const update = (kind: OwnedListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:id`,
    audience: 'user',
    address: { ...ownerParams, id: id() },
    fields: editFields,
    find: async ({ call }, address) => await findRecordToChange(kind, labels, call, address),
    fromSent,
    toProblems,
    run: async ({ call }, { list, row }, { name, color, description, priority, base }, typed) => {
      const edit = {
        ...(name !== undefined && { new_name: name }),
        ...(color !== undefined && { color }),
        ...(description !== undefined && { description: description || null }),
        ...(priority !== undefined && { priority }),
        ...labelGuard.check(base, typed),
      };
      await updateLabel(call, list.owner, { id: row.id }, edit);
      return redirect(list.path, 'The label was saved.');
    },
    view: (visit, { list, row }, state) => editLabelView(visit, list, row, state),
  });

const setSubscribed = async (call: Call, list: OwnedList, labelId: number, isOn: boolean) => {
  try {
    await setLabelSubscribed(call, list.owner, { id: labelId }, isOn);
  } catch (error) {
    // The form was sent twice.
    if (!(error instanceof Failure && error.kind === 'not_modified')) throw error;
  }
};

const subscription = (kind: OwnedListRoute, verb: 'subscribe' | 'unsubscribe'): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:id/${verb}`,
    audience: 'user',
    params: object({ ...ownerParams, ...listQuery, id: id() }),
    handle: async (visit, params) => {
      const list = await kind.find(visit.call, params);
      await setSubscribed(visit.call, list, params.id, verb === 'subscribe');
      const { search, order, page: number } = params;
      const shown = {
        ...((search ?? '') !== '' && { search: search ?? '' }),
        ...(order !== undefined && { order }),
        ...(number > 1 && { page: String(number) }),
      };
      const back = Object.keys(shown).length === 0 ? '' : `?${new URLSearchParams(shown).toString()}`;
      const notice =
        verb === 'subscribe' ? 'You subscribed to the label.' : 'You unsubscribed from the label.';
      return redirect(list.path + back, notice);
    },
  });

export const formPages = (kind: OwnedListRoute): AnyPage[] => [
  ...ownedRecordPages(kind, labels),
  create(kind),
  update(kind),
  subscription(kind, 'subscribe'),
  subscription(kind, 'unsubscribe'),
];

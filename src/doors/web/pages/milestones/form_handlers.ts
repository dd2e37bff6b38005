/** Forms of milestones, which call the operations of the API. */
import { id, object } from '../../../../platform/http/schema.ts';
import { createMilestone } from '../../../../projects/milestones/create.ts';
import { deleteMilestone } from '../../../../projects/milestones/delete.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { promoteMilestone } from '../../../../projects/milestones/promote.ts';
import { findMilestoneByIid } from '../../../../projects/milestones/queries.ts';
import { updateMilestone } from '../../../../projects/milestones/update.ts';
import { type AnyPage, page, redirect } from '../../page.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { type OwnedListRoute, findToChange, ownerParams } from '../labels/project_or_group_routes.ts';
import {
  type OwnedRecords,
  findRecordToChange,
  ownedRecordPages,
} from '../labels/label_and_milestone_pages.ts';
import {
  editFields,
  editMilestoneView,
  fromSent,
  milestoneFields,
  milestoneGuard,
  newMilestoneView,
  toProblems,
} from './form.ts';

const milestones: OwnedRecords<MilestoneRow> = {
  key: 'iid',
  find: async ({ db }, { owner }, iid) => await findMilestoneByIid(db, owner, iid),
  newView: newMilestoneView,
  editView: editMilestoneView,
  remove: async (call, { owner }, row) => await deleteMilestone(call, owner, row.id),
  removed: ({ title }) => `The milestone ${title} was deleted.`,
  noun: 'milestones',
  promote: async (call, owners, row) => await promoteMilestone(call, owners, row.id),
  promoted: ({ title }) => `The milestone ${title} was promoted to the group.`,
};

const create = (kind: OwnedListRoute): AnyPage =>
  formPage({
    path: kind.routePath,
    audience: 'user',
    address: ownerParams,
    fields: milestoneFields,
    find: async ({ call }, address) => await findToChange(kind, call, address),
    fromSent,
    toProblems,
    run: async ({ call }, list, { title = '', description, start_date = null, due_date = null }) => {
      const milestone = { title, description: description || null, start_date, due_date };
      const { iid } = await createMilestone(call, list.owner, milestone);
      return redirect(`${list.path}/${iid}`, 'The milestone was created.');
    },
    view: newMilestoneView,
  });

const update = (kind: OwnedListRoute): AnyPage =>
  formPage({
    path: `${kind.routePath}/:iid`,
    audience: 'user',
    address: { ...ownerParams, iid: id() },
    fields: editFields,
    find: async ({ call }, address) => await findRecordToChange(kind, milestones, call, address),
    fromSent,
    toProblems,
    run: async ({ call }, { list, row }, { title, description, start_date, due_date, base }, typed) => {
      const edit = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description: description || null }),
        ...(start_date !== undefined && { start_date }),
        ...(due_date !== undefined && { due_date }),
        ...milestoneGuard.check(base, typed),
      };
      await updateMilestone(call, { owner: list.owner, id: row.id }, edit);
      return redirect(`${list.path}/${row.iid}`, 'The milestone was saved.');
    },
    view: (visit, { list, row }, state) => editMilestoneView(visit, list, row, state),
  });

const setState = (kind: OwnedListRoute, state_event: 'close' | 'activate'): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/${state_event}`,
    audience: 'user',
    params: object({ ...ownerParams, iid: id() }),
    handle: async (visit, params) => {
      const { list, row } = await findRecordToChange(kind, milestones, visit.call, params);
      await updateMilestone(visit.call, { owner: list.owner, id: row.id }, { state_event });
      const notice = state_event === 'close' ? 'The milestone was closed.' : 'The milestone was reopened.';
      return redirect(`${list.path}/${row.iid}`, notice);
    },
  });

export const formPages = (kind: OwnedListRoute): AnyPage[] => [
  ...ownedRecordPages(kind, milestones),
  create(kind),
  update(kind),
  setState(kind, 'close'),
  setState(kind, 'activate'),
];

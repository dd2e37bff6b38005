/** Forms of milestones, which call the operations of the API. */
import type { Call } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { createMilestone } from '../../../../projects/milestones/create.ts';
import { deleteMilestone } from '../../../../projects/milestones/delete.ts';
import type { MilestoneRow } from '../../../../projects/milestones/json.ts';
import { findMilestoneByIid } from '../../../../projects/milestones/queries.ts';
import { updateMilestone } from '../../../../projects/milestones/update.ts';
import { type AnyPage, page, redirect } from '../../page.ts';
import { attempt } from '../../parts/form.ts';
import {
  type OwnerPlace,
  type OwnerPlaceKind,
  type OwnerPlaceParams,
  findToChange,
  ownerParams,
} from '../labels/owner_pages.ts';
import {
  asSent,
  editMilestoneView,
  milestoneFormParams,
  milestoneProblems,
  newMilestoneView,
} from './form.ts';

type Found = { place: OwnerPlace; row: MilestoneRow };

const findToEdit = async (
  kind: OwnerPlaceKind,
  call: Call,
  params: OwnerPlaceParams & { iid: number },
): Promise<Found> => {
  const place = await findToChange(kind, call, params);
  return { place, row: await findMilestoneByIid(call.db, place.owner, params.iid) };
};

const withLines = (description: string | null | undefined): string | null =>
  (description ?? '') === '' ? null : (description ?? '').replaceAll('\r\n', '\n');

const newPage = (kind: OwnerPlaceKind): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.served}/new`,
    audience: 'user',
    params: object(ownerParams),
    handle: async (visit, params) => newMilestoneView(visit, await findToChange(kind, visit.call, params)),
  });

const create = (kind: OwnerPlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: kind.served,
    audience: 'user',
    params: object({ ...ownerParams, ...milestoneFormParams }),
    invalid: async (visit, sent, fields) =>
      newMilestoneView(
        visit,
        await findToChange(kind, visit.call, sent),
        asSent(sent, { text: null, fields }),
      ),
    handle: async (visit, params) => {
      const { title = '', description, start_date = null, due_date = null } = params;
      const place = await findToChange(kind, visit.call, params);
      const input = { title, description: withLines(description), start_date, due_date };
      let iid = 0;
      const problems = await attempt(async () => {
        ({ iid } = await createMilestone(visit.call, place.owner, input));
      });
      if (problems === null) return redirect(`${place.path}/${iid}`, 'The milestone is created.');
      return newMilestoneView(visit, place, { filled: params, problems: milestoneProblems(problems) });
    },
  });

const editPage = (kind: OwnerPlaceKind): AnyPage =>
  page({
    method: 'GET',
    path: `${kind.served}/:iid/edit`,
    audience: 'user',
    params: object({ ...ownerParams, iid: id() }),
    handle: async (visit, params) => {
      const { place, row } = await findToEdit(kind, visit.call, params);
      return editMilestoneView(visit, place, row);
    },
  });

const update = (kind: OwnerPlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid`,
    audience: 'user',
    params: object({ ...ownerParams, ...milestoneFormParams, iid: id() }),
    invalid: async (visit, sent, fields) => {
      const { place, row } = await findToEdit(kind, visit.call, { ...sent, iid: Number(sent['iid']) });
      return editMilestoneView(visit, place, row, asSent(sent, { text: null, fields }));
    },
    handle: async (visit, params) => {
      const { call } = visit;
      const { place, row } = await findToEdit(kind, call, params);
      const { title, description, start_date, due_date } = params;
      const edit = {
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description: withLines(description) }),
        ...(start_date !== undefined && { start_date }),
        ...(due_date !== undefined && { due_date }),
      };
      const problems = await attempt(async () => await updateMilestone(call, place.owner, row.id, edit));
      if (problems === null) return redirect(`${place.path}/${row.iid}`, 'The milestone is saved.');
      return editMilestoneView(visit, place, row, { filled: params, problems: milestoneProblems(problems) });
    },
  });

const setState = (kind: OwnerPlaceKind, state_event: 'close' | 'activate'): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/${state_event}`,
    audience: 'user',
    params: object({ ...ownerParams, iid: id() }),
    handle: async (visit, params) => {
      const { place, row } = await findToEdit(kind, visit.call, params);
      await updateMilestone(visit.call, place.owner, row.id, { state_event });
      const notice = state_event === 'close' ? 'The milestone is closed.' : 'The milestone is open again.';
      return redirect(`${place.path}/${row.iid}`, notice);
    },
  });

const remove = (kind: OwnerPlaceKind): AnyPage =>
  page({
    method: 'POST',
    path: `${kind.served}/:iid/delete`,
    audience: 'user',
    params: object({ ...ownerParams, iid: id() }),
    handle: async (visit, params) => {
      const { place, row } = await findToEdit(kind, visit.call, params);
      await deleteMilestone(visit.call, place.owner, row.id);
      return redirect(place.path, `The milestone ${row.title} is deleted.`);
    },
  });

export const actPages = (kind: OwnerPlaceKind): AnyPage[] => [
  newPage(kind),
  create(kind),
  editPage(kind),
  update(kind),
  setState(kind, 'close'),
  setState(kind, 'activate'),
  remove(kind),
];

/** What is done to schedules: what the API does. */
import { userOf } from '../../../access/call.ts';
import { id, object } from '../../../http/schema.ts';
import { playSchedule } from '../../../pipelines/run_schedule.ts';
import {
  type FoundSchedule,
  findScheduleTo,
  mayEdit,
  mayTakeOver,
  requireRef,
} from '../../../pipelines/schedule_rights.ts';
import { createSchedule, deleteSchedule, takeOver, updateSchedule } from '../../../pipelines/schedules.ts';
import { findProjectFor } from '../../../projects/find.ts';
import { attempt } from '../../form.ts';
import { Redirect, type Visit, page, redirect } from '../../page.ts';
import { pathOf, projectPath } from '../ci/project_view.ts';
import { asTyped, filledParams, scheduleProblems, valuesOf } from './form.ts';
import { listView, schedulesPath, servedSchedules } from './list.ts';
import { editView } from './one.ts';

const create = page({
  method: 'POST',
  path: servedSchedules,
  audience: 'user',
  params: object({ ...projectPath, ...filledParams }),
  invalid: async (visit, sent, fields) => {
    const project = await findProjectFor(visit.call, String(sent['project']), 'admin_schedule');
    const problems = scheduleProblems({ text: null, fields });
    return await listView(visit, project, {}, { given: asTyped(sent), problems });
  },
  handle: async (visit, { project: of, ...given }) => {
    const project = await findProjectFor(visit.call, of, 'admin_schedule');
    const problems = await attempt(async () => await createSchedule(visit.call, project, valuesOf(given)));
    if (problems === null) return redirect(schedulesPath(project), 'The schedule is added.');
    return await listView(visit, project, {}, { given, problems: scheduleProblems(problems) });
  },
});

const one = { ...projectPath, id: id() };

const update = page({
  method: 'POST',
  path: `${servedSchedules}/:id`,
  audience: 'user',
  params: object({ ...one, ...filledParams }),
  handle: async (visit, { project: of, id: scheduleId, ...given }) => {
    const { call } = visit;
    const asked = { id: of, pipeline_schedule_id: scheduleId };
    const { project, schedule } = await findScheduleTo(call, asked, mayEdit);
    const problems = await attempt(
      async () => await updateSchedule(call, project, schedule, valuesOf(given)),
    );
    if (problems === null) return redirect(schedulesPath(project), 'The schedule is saved.');
    const tried = { given, problems: scheduleProblems(problems) };
    return { ...(await editView(visit, { project, schedule }, { tried })), status: 422 };
  },
});

type Act = (visit: Visit, found: FoundSchedule) => Promise<Redirect>;

const acting = (verb: string, allows: Parameters<typeof findScheduleTo>[2], act: Act) =>
  page({
    method: 'POST',
    path: `${servedSchedules}/:id/${verb}`,
    audience: 'user',
    params: object(one),
    handle: async (visit, { project, id: scheduleId }) => {
      const asked = { id: project, pipeline_schedule_id: scheduleId };
      return await act(visit, await findScheduleTo(visit.call, asked, allows));
    },
  });

const play: Act = async ({ call }, { project, schedule }) => {
  await requireRef(call, project, schedule.ref);
  const made = await playSchedule(call.platform, project, schedule, userOf(call).id);
  if ('refused' in made) {
    return new Redirect(schedulesPath(project), {
      kind: 'alert',
      text: `No pipeline was made: ${made.refused}`,
    });
  }
  return redirect(pathOf(project, `pipelines/${made.pipeline.id}`));
};

export const actPages = [
  create,
  update,
  acting('play', () => true, play),
  acting('take_ownership', mayTakeOver, async ({ call }, { project, schedule }) => {
    await takeOver(call, schedule);
    return redirect(schedulesPath(project), 'The schedule is yours: its pipelines run with your rights.');
  }),
  acting('delete', mayTakeOver, async ({ call }, { project, schedule }) => {
    await deleteSchedule(call, schedule);
    return redirect(schedulesPath(project), 'The schedule is deleted.');
  }),
];

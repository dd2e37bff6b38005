/** Handlers for forms of schedules, which call the operations of the API. */
import { requireUser } from '../../../../core/access/call.ts';
import { id, object } from '../../../../platform/http/schema.ts';
import { playSchedule } from '../../../../ci/pipelines/schedules/run_schedule.ts';
import {
  type LoadedSchedule,
  findScheduleToChange,
  canEditSchedule,
  canTakeOverSchedule,
  requireRunnableRef,
} from '../../../../ci/pipelines/schedules/rights.ts';
import {
  createSchedule,
  deleteSchedule,
  takeOverSchedule,
  updateSchedule,
} from '../../../../ci/pipelines/schedules/change_schedules.ts';
import { findProjectFor } from '../../../../projects/projects/find.ts';
import { attempt } from '../../parts/form.ts';
import { Redirect, type Visit, page, redirect } from '../../page.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { asTyped, filledParams, scheduleProblems, valuesOf } from './form.ts';
import { listView, schedulesPath, schedulesRoutePath } from './list.ts';
import { editView } from './schedule_page.ts';

const create = page({
  method: 'POST',
  path: schedulesRoutePath,
  audience: 'user',
  params: object({ ...projectPath, ...filledParams }),
  invalid: async (visit, sent, fields) => {
    const project = await findProjectFor(visit.call, String(sent['project']), 'admin_schedule');
    const problems = scheduleProblems({ text: null, fields });
    return await listView(visit, project, {}, { given: asTyped(sent), problems });
  },
  handle: async (visit, { project: fullPath, ...given }) => {
    const project = await findProjectFor(visit.call, fullPath, 'admin_schedule');
    const problems = await attempt(async () => await createSchedule(visit.call, project, valuesOf(given)));
    if (problems === null) return redirect(schedulesPath(project), 'The schedule was added.');
    return await listView(visit, project, {}, { given, problems: scheduleProblems(problems) });
  },
});

const one = { ...projectPath, id: id() };

const update = page({
  method: 'POST',
  path: `${schedulesRoutePath}/:id`,
  audience: 'user',
  params: object({ ...one, ...filledParams }),
  handle: async (visit, { project: fullPath, id: scheduleId, ...given }) => {
    const { call } = visit;
    const ids = { id: fullPath, pipeline_schedule_id: scheduleId };
    const { project, schedule } = await findScheduleToChange(call, ids, canEditSchedule);
    const problems = await attempt(
      async () => await updateSchedule(call, project, schedule, valuesOf(given)),
    );
    if (problems === null) return redirect(schedulesPath(project), 'The schedule was saved.');
    const tried = { given, problems: scheduleProblems(problems) };
    return { ...(await editView(visit, { project, schedule }, { tried })), status: 422 };
  },
});

type Act = (visit: Visit, found: LoadedSchedule) => Promise<Redirect>;

const acting = (verb: string, allows: Parameters<typeof findScheduleToChange>[2], act: Act) =>
  page({
    method: 'POST',
    path: `${schedulesRoutePath}/:id/${verb}`,
    audience: 'user',
    params: object(one),
    handle: async (visit, { project, id: scheduleId }) => {
      const ids = { id: project, pipeline_schedule_id: scheduleId };
      return await act(visit, await findScheduleToChange(visit.call, ids, allows));
    },
  });

const play: Act = async ({ call }, { project, schedule }) => {
  await requireRunnableRef(call, project, schedule.ref);
  const made = await playSchedule(call.platform, project, schedule, requireUser(call).id);
  if ('refused' in made) {
    return new Redirect(schedulesPath(project), {
      kind: 'alert',
      text: `No pipeline was created: ${made.refused}`,
    });
  }
  return redirect(projectPagePath(project, `pipelines/${made.pipeline.id}`));
};

export const formPages = [
  create,
  update,
  acting('play', () => true, play),
  acting('take_ownership', canTakeOverSchedule, async ({ call }, { project, schedule }) => {
    await takeOverSchedule(call, schedule);
    return redirect(schedulesPath(project), 'You own the schedule now: its pipelines run with your rights.');
  }),
  acting('delete', canTakeOverSchedule, async ({ call }, { project, schedule }) => {
    await deleteSchedule(call, schedule);
    return redirect(schedulesPath(project), 'The schedule was deleted.');
  }),
];

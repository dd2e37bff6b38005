/** Handlers for forms of schedules, which call the operations of the API. */
import { requireUser } from '../../../../core/access/call.ts';
import { object } from '../../../../platform/http/schema.ts';
import { playSchedule } from '../../../../ci/pipelines/schedules/run_schedule.ts';
import {
  type LoadedSchedule,
  findScheduleToChange,
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
import { Redirect, type Visit, page, redirect } from '../../page.ts';
import { projectPagePath, projectPath } from '../../parts/frame/project_layout.ts';
import { formPage } from '../../parts/fields/form_page.ts';
import { editFields, fromSent, scheduleFields, scheduleGuard, toEdit, toProblems } from './form.ts';
import { listView, schedulesPath, schedulesRoutePath } from './list.ts';
import { editView, findEditable, oneSchedule } from './schedule_page.ts';

const create = formPage({
  path: schedulesRoutePath,
  audience: 'user',
  address: projectPath,
  fields: scheduleFields,
  find: async ({ call }, { project }) => await findProjectFor(call, project, 'admin_schedule'),
  fromSent,
  toProblems,
  run: async ({ call }, project, params) => {
    await createSchedule(call, project, toEdit(params));
    return redirect(schedulesPath(project), 'The schedule was created.');
  },
  view: async (visit, project, state) => await listView(visit, project, {}, state),
});

const update = formPage({
  path: `${schedulesRoutePath}/:id`,
  audience: 'user',
  address: oneSchedule,
  fields: editFields,
  find: findEditable,
  fromSent,
  toProblems,
  run: async ({ call }, { project, schedule }, params, typed) => {
    const edit = { ...toEdit(params), ...scheduleGuard.check(params.base, typed) };
    await updateSchedule(call, project, schedule, edit);
    return redirect(schedulesPath(project), 'The schedule was saved.');
  },
  view: async (visit, loaded, settings) => await editView(visit, loaded, { settings }),
});

type Act = (visit: Visit, loaded: LoadedSchedule) => Promise<Redirect>;

const acting = (verb: string, allows: Parameters<typeof findScheduleToChange>[2], act: Act) =>
  page({
    method: 'POST',
    path: `${schedulesRoutePath}/:id/${verb}`,
    audience: 'user',
    params: object(oneSchedule),
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
    return redirect(
      schedulesPath(project),
      'You took over the schedule. Its pipelines run with your rights.',
    );
  }),
  acting('delete', canTakeOverSchedule, async ({ call }, { project, schedule }) => {
    await deleteSchedule(call, schedule);
    return redirect(schedulesPath(project), 'The schedule was deleted.');
  }),
];

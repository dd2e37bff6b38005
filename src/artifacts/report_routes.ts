/** The tests of a pipeline. */
import { endpoint } from '../access/call.ts';
import { id, object } from '../http/schema.ts';
import { findPipeline } from '../pipelines/find.ts';
import { projectParam } from '../repository/code.ts';
import { reportJson, reportShape, summaryJson, summaryShape } from './report_json.ts';
import { testSuites } from './test_report.ts';

const area = 'pipelines';
const params = object({ id: projectParam, pipeline_id: id() });

const report = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report',
  summary: 'What the tests of a pipeline say, case by case',
  area,
  audience: 'user',
  params,
  reply: reportShape,
  handle: async (call, given) => {
    const found = await findPipeline(call, given.id, given.pipeline_id, 'read_job');
    return reportJson(await testSuites(call, found));
  },
});

const summary = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/test_report_summary',
  summary: 'How many tests of a pipeline succeeded, and failed',
  area,
  audience: 'user',
  params,
  reply: summaryShape,
  handle: async (call, given) => {
    const found = await findPipeline(call, given.id, given.pipeline_id, 'read_job');
    return summaryJson(await testSuites(call, found));
  },
});

export const reportRoutes = [report, summary];

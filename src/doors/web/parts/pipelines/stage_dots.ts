/** The stages of a pipeline as a row of icons, each of which leads to the jobs of its stage. */
import type { StageRow } from '../../../../ci/pipelines/load_stages.ts';
import { type Html, html } from '../html.ts';
import { statusLink } from '../status_badge.ts';

/** Stages that a row of a list shows. */
export const maxDots = 12;

/** Returns the id of a stage on the page of its pipeline. */
export const stageId = (position: number): string => `stage-${position}`;

/** @param stages the first ones; one more than `maxDots` says that there are others */
export const stageDots = (pipelinePath: string, stages: readonly StageRow[]): Html | null =>
  stages.length === 0
    ? null
    : html`<ul class="stage-dots">${stages
        .slice(0, maxDots)
        .map(
          ({ name, position, status }) =>
            html`<li>${statusLink(`${pipelinePath}#${stageId(position)}`, name, status)}</li>`,
        )}${stages.length > maxDots && html`<li><a href="${pipelinePath}" aria-label="Further stages">…</a></li>`}</ul>`;

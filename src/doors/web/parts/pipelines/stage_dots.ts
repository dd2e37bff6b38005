/** The stages of a pipeline as a row of icons, each of which links to the jobs of its stage. */
import type { StageRow } from '../../../../ci/pipelines/load_stages.ts';
import { type Html, html } from '../html.ts';
import { statusIcon, statusLink } from '../status_badge.ts';

/** Stages that a row of a list shows. */
export const maxDots = 12;

/** Returns the id of a stage on the page of its pipeline. */
export const stageId = (position: number): string => `stage-${position}`;

const dot = (pipelinePath: string, { name, position, status }: StageRow): Html =>
  statusLink(`${pipelinePath}#${stageId(position)}`, name, status);

/** Renders the icons within a line of text. @param stages as of `stageDots` */
export const inlineStageDots = (pipelinePath: string, stages: readonly StageRow[]): Html | null =>
  stages.length === 0
    ? null
    : html` <span class="stage-dots">${stages.slice(0, maxDots).map((stage) => dot(pipelinePath, stage))}</span>`;

/** Renders the icons without links. @param stages as of `stageDots` */
export const stageIcons = (stages: readonly StageRow[]): Html =>
  html`${stages.slice(0, maxDots).map(({ status }) => statusIcon(status))}`;

/** @param stages the first stages; one more than `maxDots` means that there are others */
export const stageDots = (pipelinePath: string, stages: readonly StageRow[]): Html | null =>
  stages.length === 0
    ? null
    : html`<ul class="stage-dots">${stages
        .slice(0, maxDots)
        .map(
          (stage) => html`<li>${dot(pipelinePath, stage)}</li>`,
        )}${stages.length > maxDots && html`<li><a href="${pipelinePath}" aria-label="Further stages">…</a></li>`}</ul>`;

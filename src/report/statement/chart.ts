/** The bridge from sealed to true, as an SVG without script or outside parts. Its figures stand in a table beside it. */
import { CustomChart } from 'echarts/charts';
import { GridComponent } from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { amount } from '../../output/amount.ts';

export interface Step {
  readonly label: string;
  /** The height that it arrives at, from 0: sealed, latest, restated, true. Else a difference. */
  readonly isLevel: boolean;
  /** As it is printed. */
  readonly text: string;
  /** For the drawing alone: figures are text everywhere else. */
  readonly from: number;
  readonly to: number;
}

/** `start`: where the axis begins; beside great levels small differences would not show from 0. */
export interface Chart {
  readonly svg: string;
  readonly start: string;
}

use([CustomChart, GridComponent, SVGRenderer]);

const height = 300;
const stepWidth = 104;

/** Colours as the page's style names them; the library wants some that it can read. */
const colours = {
  '#010101': 'var(--level)',
  '#020202': 'var(--more)',
  '#030303': 'var(--less)',
  '#040404': 'var(--ink)',
  '#050505': 'var(--quiet)',
  '#060606': 'var(--line)',
} as const;
const [level, more, less, ink, quiet, line] = Object.keys(colours);

export function bridgeChart(steps: readonly Step[]): Chart {
  const [bottom, top, unit] = axisOf(steps);
  const chart = init(null, null, {
    renderer: 'svg',
    ssr: true,
    width: Math.max(560, 100 + steps.length * stepWidth),
    height,
  });
  chart.setOption({
    animation: false,
    textStyle: { fontFamily: 'inherit' },
    grid: { left: 84, right: 12, top: 28, bottom: 30 },
    xAxis: {
      type: 'category',
      data: steps.map(({ label }) => label),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: quiet } },
      axisLabel: { color: ink, interval: 0, fontSize: 13 },
    },
    yAxis: {
      type: 'value',
      min: bottom,
      max: top,
      interval: unit,
      axisLabel: { color: quiet, formatter: axisText, fontSize: 12 },
      splitLine: { lineStyle: { color: line } },
    },
    series: [
      {
        type: 'custom',
        silent: true,
        data: steps.map(({ isLevel, from, to }, place) => [place, isLevel ? bottom : from, to]),
        renderItem: (_: unknown, api: Drawing) => {
          const place = api.value(0);
          const [start, end] = [api.coord([place, api.value(1)]), api.coord([place, api.value(2)])];
          const width = (api.size([1, 0])[0] as number) * 0.62;
          const [x, upper] = [start[0] as number, Math.min(start[1] as number, end[1] as number)];
          const tall = Math.abs((start[1] as number) - (end[1] as number));
          const step = steps[place] as Step;
          const fill = step.isLevel ? level : step.to < step.from ? less : more;
          return {
            type: 'group',
            children: [
              // a difference of nothing on this scale is still a line
              {
                type: 'rect',
                shape: { x: x - width / 2, y: upper, width, height: Math.max(tall, 1.5) },
                style: { fill },
              },
              ...(place + 1 < steps.length
                ? [
                    {
                      type: 'line',
                      shape: { x1: x + width / 2, y1: end[1], x2: x + width * 1.12, y2: end[1] },
                      style: { stroke: quiet, lineDash: [2, 2] },
                    },
                  ]
                : []),
              {
                type: 'text',
                style: {
                  x,
                  y: upper - 5,
                  text: step.text,
                  fill: ink,
                  align: 'center',
                  verticalAlign: 'bottom',
                  fontFamily: 'inherit',
                  fontSize: 13,
                  fontWeight: step.isLevel ? 'bold' : 'normal',
                },
              },
            ],
          };
        },
      },
    ],
  } as Parameters<typeof chart.setOption>[0]);
  const drawn = chart.renderToSVGString();
  chart.dispose();
  return { svg: cleaned(drawn), start: axisText(bottom) };
}

interface Drawing {
  value(dimension: number): number;
  coord(point: readonly number[]): number[];
  size(data: readonly number[]): number[];
}

/** From 0, unless all levels lie so close together that nothing would be seen. */
function axisOf(steps: readonly Step[]): [number, number, number] {
  const ends = steps.flatMap(({ isLevel, from, to }) => (isLevel ? [to] : [from, to]));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const span = high - low;
  const nearly = Math.max(Math.abs(low), Math.abs(high));
  if (span === 0 || span > nearly * 0.2) {
    const unit = unitOf(Math.max(high, 0) - Math.min(low, 0) || 1);
    return [
      Math.floor(Math.min(low, 0) / unit) * unit,
      Math.ceil(Math.max(high, 0) / unit) * unit || unit,
      unit,
    ];
  }
  const unit = unitOf(span);
  return [Math.floor((low - span * 0.4) / unit) * unit, Math.ceil((high + span * 0.1) / unit) * unit, unit];
}

/** A step of 1, 2 or 5 that divides the span into a handful. */
function unitOf(span: number): number {
  const power = 10 ** Math.floor(Math.log10(span / 4));
  return [1, 2, 5, 10].map((factor) => factor * power).find((unit) => span / unit <= 5) ?? power * 10;
}

function axisText(value: number): string {
  return amount(Number(value.toPrecision(12)).toString());
}

/** Without what the library adds for a living page: ids that count up within a process, among others. */
function cleaned(svg: string): string {
  return Object.entries(colours)
    .reduce((text, [colour, name]) => text.replaceAll(colour, name), svg)
    .replaceAll(/<style[\s\S]*?<\/style>\s*/g, '')
    .replaceAll(/ (class="zr[^"]*"|ecmeta_[a-z_]+="[^"]*"|pointer-events="[^"]*"|xmlns:xlink="[^"]*")/g, '')
    .replace(/<svg width="(\d+)" height="(\d+)"/, '<svg width="$1" height="$2" aria-hidden="true"');
}

// Goodput and RTT in the course of one test.
import {echarts} from './echarts.js';
import {make} from './dom.js';
import {milliseconds, rate} from './units.js';

export class SampleChart {
  constructor(place, samples, theme) {
    Object.assign(this, {samples, theme});
    const joined = samples.joined > 1 ? ` Each point joins ${samples.joined} of the test’s intervals.` : '';
    this.box = make('div', {class: 'chart samples', role: 'img', 'aria-label': `Goodput over ${samples.points.length} intervals of the test`});
    place.append(make('h3', {}, 'In the course of the test'), this.box, make('p', {class: 'note'}, `Goodput as the receiver counted it; below, the smoothed RTT under load.${joined}`));
    this.chart = echarts.init(this.box, null, {renderer: 'canvas', devicePixelRatio: Math.max(2, devicePixelRatio)});
    this.paint();
    this.resizing = new ResizeObserver(() => this.chart.resize());
    this.resizing.observe(this.box);
  }

  paint() {
    const {points} = this.samples;
    const rtts = points.some((p) => p.ms !== null);
    const ink = this.theme.colour('ink-2');
    const rule = this.theme.colour('rule');
    const end = points[points.length - 1].s;
    const font = {color: ink, fontFamily: 'system-ui, sans-serif', fontSize: 12};
    const grids = [{left: 74, right: 14, top: 14, height: rtts ? 130 : 200}, {left: 74, right: 14, top: 164, height: 66}].slice(0, rtts ? 2 : 1);
    const line = (at, data, colour, step) => ({type: 'line', xAxisIndex: at, yAxisIndex: at, data, step, symbol: 'none', silent: true, connectNulls: true, lineStyle: {color: this.theme.colour(colour), width: 1.8}, areaStyle: step && {color: this.theme.colour(colour), opacity: 0.14}});
    const rates = points.map((p) => [p.s, p.bps]);
    rates.unshift([0, points[0].bps]);
    this.chart.setOption({
      animation: false, textStyle: font, grid: grids,
      xAxis: grids.map((_, at) => ({gridIndex: at, type: 'value', min: 0, max: end, axisLabel: {show: at === grids.length - 1, color: ink, formatter: (s) => `${Number(s.toFixed(1))} s`, hideOverlap: true}, axisTick: {show: false}, axisLine: {lineStyle: {color: rule}}, splitLine: {show: false}})),
      yAxis: grids.map((_, at) => ({gridIndex: at, type: 'value', min: 0, splitNumber: at ? 2 : 4, axisLabel: {color: ink, hideOverlap: true, formatter: (v) => (at ? milliseconds(v) : rate(v)).replace(/(\.\d*?)0+ /, '$1 ').replace('. ', ' ')}, splitLine: {lineStyle: {color: rule}}})),
      series: [line(0, rates, 'accent', 'end'), ...(rtts ? [line(1, points.filter((p) => p.ms !== null).map((p) => [p.s, p.ms]), 'accent-2')] : [])],
    }, {notMerge: true});
  }

  close() {
    this.resizing.disconnect();
    this.chart.dispose();
  }
}

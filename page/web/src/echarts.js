// The parts of ECharts that the page uses, and no others.
import * as core from 'echarts/core';
import {LineChart, ScatterChart} from 'echarts/charts';
import {GridComponent} from 'echarts/components';
import {CanvasRenderer} from 'echarts/renderers';

core.use([ScatterChart, LineChart, GridComponent, CanvasRenderer]);

export const echarts = core;

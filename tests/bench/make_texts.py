#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the texts of texts/: 64 KiB each of English, Chinese and C, free of anybody else's rights.

usage: make_texts.py FOLDER

English is this project's documentation, C its sources, both as they were when this ran; the committed texts stay as
they are, because recorded numbers belong to them. Chinese is put together from the sentences below, the same way each
time.
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE = 1 << 16
ENGLISH = ["README.md", *(f"docs/{name}.md" for name in ("special-tokens", "testing", "training", "contributing",
                                                          "packaging", "cli", "formats"))]
CODE = ["tokenizer/bpe/encode.c", "tokenizer/bpe/merge.c", "tokenizer/bpe/segments.c", "tokenizer/bpe/piece.c",
        "tokenizer/load/json.c", "tokenizer/text/normalize.c", "tests/cli/common.py", "tools/cli/reader.c",
        "tests/golden/golden.py", "tools/cli/options.c"]

WORDS = {
    "人": "老师 学生 医生 工程师 邻居 司机 作家 记者 农民 画家 翻译 护士 店主 研究员 图书管理员 爷爷 奶奶 小王 李明 张教授 陈师傅 "
         "孩子们 年轻人 游客 读者 志愿者",
    "地": "图书馆 车站 学校 医院 市场 公园 实验室 博物馆 咖啡店 办公室 河边 山脚下 老城区 郊外的村子 北京 上海 杭州 成都 西安 海边的小镇 "
         "厨房 剧院 机场 工厂 广场",
    "时": "今天早上 昨天晚上 上个星期 去年冬天 二〇二三年春天 周末 傍晚 半夜 下雨的时候 放学以后 会议开始之前 天亮前 3月12日 每到秋天 "
         "刚才 前几年 午饭后",
    "物": "一本旧书 一封信 两张车票 一把雨伞 新买的手机 那台电脑 一篇文章 一份报告 几棵树苗 一盏灯 一幅山水画 三斤苹果 一杯热茶 "
         "一张地图 一段程序 一只猫 一条消息 许多照片 一架钢琴 半块面包 一台显微镜 一份合同",
    "动": "找到 整理 修好 带来 卖掉 借走 翻译 研究 讨论 忘记 保存 送给别人 重新检查 仔细观察 放在桌上 交给同事 慢慢打开 洗干净 拍下来 "
         "寄到远方",
    "形": "安静 热闹 复杂 简单 漂亮 古老 有趣 危险 重要 潮湿 明亮 陌生 便宜 可靠 温暖 遥远 清楚 奇怪 精确 缓慢",
    "学": "语言学 数学 历史 物理 统计方法 机器学习 气候变化 古代文学 城市规划 信息安全 植物分类 电力系统 分词算法 编码理论 天文观测 "
         "公共卫生",
    "数": "三 十二 一百多 2.5 17 六十 几千 98.6 两万 1024 百分之三十 四分之一",
}
SENTENCES = """
{时}，{人}在{地}{动}了{物}。
{人}说：“{地}很{形}，我们{时}再去吧！”
如果{物}不见了，{人}就会到{地}去找，一直找到{时}。
关于{学}，{人}写了{数}页笔记，其中最{形}的部分是第{数}章。
{地}的变化很大，以前这里很{形}，现在却变得{形}起来。
你知道{人}为什么要{动}{物}吗？因为{时}{地}停电了。
{人}和{人}都认为{学}比{学}更{形}，但是没有人能证明这一点。
根据{时}的统计，{地}平均每天有{数}人次来访，比去年增加了{数}。
《{学}入门》这本书{形}而又{形}，适合{人}阅读。
{时}的风很大，{物}被吹到了{地}，{人}追了{数}公里才{动}。
我们把{物}分成{数}份，一份给{人}，一份给{人}，剩下的留在{地}。
{人}打开电脑，输入 dstok count 命令，{数}秒后就得到了结果。
“{物}多少钱？”“{数}元。”{人}想了想，觉得不够{形}，就离开了{地}。
虽然{学}听起来{形}，其实只要每天练习{数}分钟，{人}也能学会。
从{地}到{地}，坐火车要{数}个小时，走路要{数}天。
{时}，雨终于停了，{地}的空气{形}极了，{人}忍不住{动}了{物}。
请注意：{物}必须在{时}{动}，否则{人}无法进入{地}。
{人}的故乡在{地}附近，那里山多、水多、树也多，房子却很{形}。
研究表明，{学}与{学}之间存在{形}的联系（参见第{数}节）。
{人}没有回答，只是看着{物}，好像在想{地}的事情。
听说{地}新开了一家店，卖{物}，也教人{学}，{人}{时}去过一次。
系统会先检查输入的文字，再按照规则切分，最后{动}；这个过程{形}而且{形}。
{人}问：“这句话应该怎样断开？”{人}答：“要看上下文，{学}里有{数}种办法。”
在{形}的{地}，{人}用{数}年时间{动}了{物}，后来成了{学}专家。
"""


def chinese():
    """Sentences with words in their gaps, chosen by a fixed sequence of numbers."""
    words = {key: text.split() for key, text in WORDS.items()}
    sentences = SENTENCES.split("\n")[1:-1]
    state, lines = 20250101, []

    def choose(items):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return items[(state >> 33) % len(items)]

    while sum(len(line.encode()) + 1 for line in lines) < SIZE:
        line = ""
        for _ in range(choose(range(1, 6))):
            sentence = choose(sentences)
            while "{" in sentence:
                before, rest = sentence.split("{", 1)
                sentence = before + choose(words[rest[0]]) + rest[2:]
            line += sentence
        lines.append(line)
    return "\n".join(lines) + "\n"


def files(names):
    return "".join((ROOT / name).read_text(encoding="utf-8") for name in names)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, text in (("en", files(ENGLISH)), ("zh", chinese()), ("code", files(CODE))):
        data = text.encode()
        if len(data) < SIZE:
            sys.exit(f"{name}: {len(data)} bytes are too few")
        data = data[:SIZE].decode("utf-8", "ignore").encode()
        (folder / f"{name}.txt").write_bytes(data)


if __name__ == "__main__":
    main()

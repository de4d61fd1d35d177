"""The words that texts are made of, in English and Chinese."""


def w(text):
    return text.split()


COLOURS = w("red blue green black white yellow brown grey pink purple silver golden orange")
ADJECTIVES = COLOURS + w(
    "large small old new round square heavy light wooden metal glass paper leather "
    "tall short long broken plastic cheap empty left right upper lower northern "
    "southern eastern western first second third spare main front back"
)
NOUNS = w(
    "box key lamp door book chair table clock bag car ship train house bottle phone card ring knife "
    "map coat hat shoe drum bell cup plate bridge tower garden engine robot machine server file "
    "letter parcel cabinet locker printer laptop camera bicycle truck boat window desk drawer shelf "
    "basket bucket mirror carpet piano guitar jacket shirt umbrella suitcase wallet passport ticket "
    "folder report contract invoice notebook pen pump valve tank pipe sensor router cable battery "
    "screen keyboard monitor backup account project team office room warehouse kitchen library "
    "museum station school hospital hotel shop farm factory laboratory tool hammer ladder tent stove "
    "kettle cake sandwich medicine sample statue painting vase coin stamp plant tree"
)
PLACES = w(
    "kitchen garage cellar attic office garden library hall bedroom bathroom basement hallway yard "
    "barn shed lobby workshop archive studio balcony"
)
JOBS = w(
    "doctor teacher farmer painter pilot lawyer nurse baker writer singer driver judge tailor miner "
    "sailor chemist engineer plumber carpenter butcher waiter journalist professor dentist gardener "
    "librarian photographer"
)
MONTHS = w("January February March April May June July August September October November December")
DAYS = w("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
ANIMALS = w(
    "dog cat horse cow sheep goat rabbit mouse parrot snake turtle fox wolf bear lion tiger monkey "
    "owl eagle duck goose hamster fish frog"
)
FOODS = w(
    "bread cheese rice soup apples pears grapes pasta salad chicken beef potatoes tomatoes carrots "
    "onions honey chocolate coffee tea milk juice water wine beer noodles pancakes eggs nuts "
    "mushrooms"
)
SPORTS = w(
    "football tennis chess hockey golf rugby swimming running cycling boxing skiing sailing "
    "climbing dancing rowing fishing badminton"
)
LANGUAGES = w(
    "English French German Spanish Italian Portuguese Russian Chinese Japanese Arabic Dutch "
    "Greek Polish Turkish Swedish Korean Hindi"
)
FIRST = w(
    "Marta Anna Alice Robert Peter John Mary Paul Laura David Sarah Thomas Emma James Julia Mark "
    "Sophie Daniel Maria Simon Clara Martin Helen George Nina Oscar Lucy Henry Eva Frank Rosa Victor "
    "Alex Carol Bruno Diana Leo Ivan Olga Hugo Irene Max Tom Ben Sam Kate Jane Bob Jack Lisa Adam "
    "Chris Erik Linda Karl Tina Omar Ali Fatima Yusuf Mei Hiro Raj Priya Carlos Sofia Lukas Elena "
    "Felix Greta Nora Ella Noah Liam Mia Zoe"
)
LAST = w(
    "Smith Johnson Brown Miller Davis Wilson Taylor Clark Lewis Walker Young King Wright Green Baker "
    "Adams Nelson Carter Mitchell Turner Parker Evans Collins Stewart Morris Rogers Cook Morgan Bell "
    "Cooper Bailey Ward Gray Watson Brooks Kelly Price Bennett Wood Ross Russell Griffin Hayes Ford "
    "Stone Weber Fischer Novak Rossi Garcia Lopez Martinez Silva Tanaka Patel Khan Kim Lee Chen Wang "
    "Li Zhang"
)
CITIES = w(
    "Paris London Berlin Madrid Rome Vienna Prague Lisbon Dublin Oslo Athens Warsaw Moscow Cairo "
    "Tokyo Beijing Shanghai Delhi Mumbai Sydney Toronto Boston Chicago Dallas Denver Seattle "
    "Hamburg Munich Milan Geneva Zurich Lyon Porto Bergen Cracow Istanbul Nairobi Lagos Lima Bogota "
    "Havana Hanoi Seoul Osaka Bangkok Jakarta France Germany Spain Italy Greece Poland Norway "
    "Sweden Canada Mexico Brazil Peru Chile Egypt Kenya India China Japan Korea Australia"
)
VERBS_DONE = w(
    "broken missing delayed cancelled blocked jammed leaking slow ready lost late empty full "
    "locked closed open dirty wet hot noisy offline online approved rejected paid unpaid sent "
    "shipped stolen"
)
MADE_UP = w(
    "status level type version limit priority budget deadline title address email website author "
    "editor sender receiver customer supplier doctor coach captain director partner sister brother "
    "neighbour assistant temperature pressure speed length width depth distance volume power "
    "voltage capacity duration rate tax salary rent fee fine discount balance total count page "
    "chapter floor seat gate platform lane row shelf brand model shape flavour material language "
    "currency country region district street river mountain island nickname hobby song film drink "
    "dish fruit flower plant pet instrument subject prize award rank grade symbol number code flag "
    "logo theme motto rule goal reason cause result problem solution answer hint note warning"
)
UNITS = w("kg km metres euros dollars minutes hours days percent litres grams miles pages people points")
# Words of questions and of sentences that carry no fact; they are in the vocabulary, too.
COMMON = w(
    "the The a A an of is was are were it its that this these which what What who Who whom whose "
    "Whose where Where when When why how How many much long old far often does did do has have had "
    "will be been by for For from to on in In at with and or not no but as As we We they he He she "
    "She you your my his her their can could would should must may me Tell tell please Please know "
    "about according According record recorded says said there There here all every each some any "
    "also only very more most other another same new only stated Not not now today yesterday "
    "tomorrow week month year day time name person thing kind sort one two three four five six "
    "seven eight nine ten under over behind near next inside into onto after before until since "
    "during between without lives live living works work working belongs belong owns own keeps keep "
    "kept found find stored store put moved move married born likes like eat eats drinks drink "
    "speaks speak plays play studies study drives drive bought buy sold sell paid costs cost weighs "
    "weigh measures arrives arrive leaves leave starts start begins begin ends end opens open "
    "closes close takes take place happens happen held meeting lecture concert exam class lunch "
    "dinner party trip flight interview workshop training delivery appointment conference holiday "
    "lesson called call named colour color painted made from built wrote written invented "
    "discovered founded designed painted runs run leads lead teaches teach manages manage met meet "
    "visited visit travels travel went go goes wife husband mother father son daughter friend boss "
    "owner home town city job age price weight height birthday password number phone code serial "
    "room score size location manager favourite animal book food colour sport arrival departure "
    "date secret word user wifi pin door alarm server network code context Context Question "
    "question answer Yes No yes weather calm nobody anything else story late people sure nothing "
    "happened morning evening afternoon night long walk quiet busy later again still already just "
    "everything wrong problem issue matter happened reported reports error order item items list "
    "table key value note notes comes come came get gets got give gave given sent send received "
    "receive ordered order needs need wants want uses use used stands stand lies lie hangs hang "
    "sits sit hidden hide lent lend borrowed borrow gave wears wear asked ask answered told thinks "
    "think wore carries carry contains contain holds hold stays stay moved north south east west "
    "street road square park river lake sea hill old bottom top left right corner side manager's "
    "it's let's remember remember Remember Note note Also also last Last This that's their"
)

ZH_COLOURS = w("红色 蓝色 绿色 黑色 白色 黄色 棕色 灰色 粉色 紫色 银色 金色 橙色")
ZH_ADJ = ZH_COLOURS + w("大 小 新 旧 圆 方 木 铁 玻璃 纸 高 长 左边的 右边的 备用 第一个 第二个")
ZH_NOUNS = w(
    "盒子 钥匙 台灯 大门 书本 椅子 桌子 时钟 背包 汽车 轮船 火车 房子 瓶子 手机 卡片 戒指 地图 外套 帽子 鞋子 铃铛 杯子 盘子 "
    "大桥 花园 机器 文件 信件 包裹 柜子 打印机 电脑 相机 自行车 窗户 抽屉 书架 篮子 镜子 钢琴 雨伞 箱子 钱包 护照 报告 合同 "
    "服务器 电池 屏幕 项目 仓库 厨房 图书馆 学校 医院 商店 工厂 水泵 阀门 蛋糕 药品 雕像 油画 花瓶 硬币 邮票"
)
ZH_PLACES = w("厨房 车库 地下室 阁楼 办公室 花园 图书馆 大厅 卧室 浴室 走廊 院子 仓库 门口 车间 档案室 阳台")
ZH_JOBS = w(
    "医生 教师 农民 画家 飞行员 律师 护士 作家 歌手 司机 法官 裁缝 矿工 水手 工程师 厨师 木匠 记者 教授 园丁 摄影师"
)
ZH_DAYS = w("星期一 星期二 星期三 星期四 星期五 星期六 星期日")
ZH_ANIMALS = w("狗 猫 马 牛 羊 兔子 老鼠 鹦鹉 蛇 乌龟 狐狸 狼 熊 狮子 老虎 猴子 猫头鹰 鹰 鸭子 鱼 青蛙")
ZH_FOODS = w(
    "面包 奶酪 米饭 汤 苹果 梨 葡萄 面条 沙拉 鸡肉 牛肉 土豆 番茄 蜂蜜 巧克力 咖啡 茶 牛奶 果汁 水 饺子 鸡蛋 蘑菇"
)
ZH_SPORTS = w("足球 网球 象棋 游泳 跑步 骑车 滑雪 跳舞 钓鱼 羽毛球 篮球 乒乓球")
ZH_LANGUAGES = w("英语 法语 德语 西班牙语 意大利语 俄语 汉语 日语 阿拉伯语 韩语")
ZH_CITIES = w(
    "北京 上海 广州 深圳 南京 杭州 成都 重庆 武汉 西安 天津 苏州 青岛 大连 厦门 长沙 昆明 拉萨 巴黎 伦敦 柏林 罗马 东京 "
    "纽约 莫斯科 中国 法国 德国 日本 英国 美国"
)
ZH_DONE = w("坏了 丢失 推迟 取消 堵塞 漏水 很慢 完成 关闭 打开 缺货 已付款 未付款 已发货 离线 正常")
ZH_MADE_UP = w(
    "状态 等级 类型 版本 上限 优先级 预算 期限 标题 地址 邮箱 作者 编辑 客户 教练 队长 主任 搭档 姐姐 哥哥 邻居 助理 温度 "
    "压力 速度 长度 宽度 深度 距离 体积 功率 电压 容量 工资 租金 费用 折扣 余额 总数 页数 楼层 座位 品牌 型号 形状 口味 "
    "材料 语言 货币 国家 地区 街道 昵称 爱好 歌曲 电影 饮料 水果 花 宠物 乐器 学科 奖品 名次 标志 口号 目标 原因 结果 问题 答案"
)
SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚"
    "谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
CHARACTERS = (
    "一二三四五六七八九十百千大小中上下左右东西南北天地人心手口日月水火山石田土木金风云雨雪春夏秋冬花草树林鸟鱼虫马牛羊狗猫虎龙米面茶酒饭菜果"
    "车船路门窗床衣布纸笔书画琴棋歌舞诗文字语言声音光明亮红绿蓝黄黑白新老少年青安平和静美好丽英华国家城乡村市州江河湖海洋岛桥塔宫寺学校长生成志"
    "强勇健康伟杰俊超军民建兵士医院师父母子女儿孙兄弟姐妹朋友玉珍宝秀芳兰梅莲燕凤霞晓雅思想念爱情喜乐欢庆福寿永恒远近高低前后里外开关出入来去飞行"
    "走跑跳坐立看听说读写吃喝买卖用作工农商业科技电力气热冷快慢多真正直方圆元角分时刻星辰晨夜早晚今同公共体育太阳辉荣世界全部主义道德理想自由清洁"
    "深浅浓淡香甜苦辣娜婷涛磊斌鹏浩宇轩涵雨欣怡佳倩敏洁莉萍刚峰博睿哲瑞祥顺利丹娟琳琪瑶薇蕾妍颖慧聪颜彤阔"
)
ZH_COMMON = (
    "的是在有了不没这那哪谁什么怎样为吗呢吧我们你他她它请问告诉知道根据记录关于对于来说其中可以能会要从到把被给让和与或但也都就还只很最更"
    "已经正将曾住位于属归放存找发现出生结婚妻丈夫喜欢吃喝养会说打工作职业当担任负责管理教学习买卖花费价格钱元重量身高年龄岁生日编号码密电话"
    "房间颜色主人老师城市家乡动物书籍食物运动语言分数位置序列暗尺寸最初期开始结束到达离出发时间地点举行举办召开会议讲座音乐考试课程午餐晚餐聚"
    "旅行航班面试培训送货约见假几点号第多少个只把条张本件辆台座名叫称作因为所以如果今昨明后周星期上下午早中晚凌晨提没到过人物事情天气"
    "故事迟些确定再安静忙碌任何内容提及根本已由建造写作创办设计发明画制成做材料客户订单票问题原因情况报告错误货物需求使用带来拿走借藏挂摆停"
    "靠近旁边里面外面上面下面后面前面中间左右角落公斤米千克欧美分钟小时天页百之度摄氏升注意另外此外同时记住据说听说资料显示密码无线网络门禁"
)
FILLER = [
    "The weather was calm that day.",
    "Nobody said anything else.",
    "It was a long story.",
    "The " "meeting " "started " "late.",
    "Some people were not sure about it.",
    "Nothing else happened.",
    "There is more to say about " "this later.",
    "We took a long walk in the evening.",
    "It was quiet after that.",
    "Remember to ask again " "tomorrow.",
    "Everything else is still open.",
    "This note is not very long.",
]
ZH_FILLER = [
    "那天天气很好。",
    "没有人再说什么。",
    "这是一个很长的故事。",
    "会议开始得很晚。",
    "有些人还不太确定。",
    "其他的事情以后再说。",
    "晚上我们出去走了走。",
    "后来就安静了。",
    "记得明天再问一次。",
]
